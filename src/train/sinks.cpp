#include "train/sinks.h"

namespace trireme::train {

const std::vector<SinkRow>& standard_sinks() {
  static const std::vector<SinkRow> rows{{"metrics", make_metrics_sink},
                                         {"console", make_console_sink},
                                         {"resources", make_resources_sink},
                                         {"trace", make_trace_sink},
                                         {"summary", make_summary_sink}};
  return rows;
}

}  // namespace trireme::train
