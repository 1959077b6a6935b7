// The protobuf messages of TensorBoard's event files (event.proto, summary.proto, plugins/hparams). Pure functions.
//
// An event is a record of the file: a time, a step, and a summary of several values, each with a tag.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "observe/events.h"
#include "watch/formats/protobuf.h"

namespace trireme::watch {

struct EventStamp {
  double unix_seconds = 0;
  std::int64_t step = 0;
};

// The first event of a file.
ProtoMessage version_event(double unix_seconds);
// Readers discard what earlier events say of this step and later ones.
ProtoMessage start_event(const EventStamp& stamp);
ProtoMessage summary_event(const EventStamp& stamp, const std::vector<ProtoMessage>& values);

ProtoMessage scalar_value(std::string_view tag, double value);
ProtoMessage text_value(std::string_view tag, std::string_view markdown);
ProtoMessage histogram_value(std::string_view tag, const observe::Histogram& histogram);
ProtoMessage image_value(std::string_view tag, std::int64_t width, std::int64_t height, std::string_view png);

// The HParams page: the table's columns, a run's row, and how the run ended.
ProtoMessage experiment_value(double unix_seconds, const std::map<std::string, std::string>& options,
                              const std::vector<std::string>& metric_tags);
ProtoMessage session_start_value(double unix_seconds, std::string_view group,
                                 const std::map<std::string, std::string>& options);
ProtoMessage session_end_value(double unix_seconds, bool is_success);

}  // namespace trireme::watch
