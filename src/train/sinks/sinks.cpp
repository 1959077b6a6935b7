#include "train/sinks/sinks.h"

namespace trireme::train {

SinkRegistry builtin_sinks() {
  return SinkRegistry("sink",
                      {{"metrics", "metrics.jsonl: a line per step, push, epoch and other event", make_metrics_sink},
                       {"console", "progress, epoch table and summary for the user", make_console_sink},
                       {"resources", "resources.jsonl: processor, memory and network", make_resources_sink},
                       {"trace", "trace.json: the time line of all workers", make_trace_sink},
                       {"summary", "summary.json at the end of the run", make_summary_sink}});
}

}  // namespace trireme::train
