// The sinks that come with the program. A new sink is a file with its make function, and a row in builtin_sinks().
// Thread-safe; the Recorder makes a SinkQueue for each sink.
#pragma once

#include <memory>
#include <vector>

#include "train/recorder/recorder.h"

namespace trireme::train {

SinkRegistry builtin_sinks();

// metrics.jsonl: a line per step, push, epoch and other event. A record.
std::unique_ptr<observe::EventSink> make_metrics_sink(const SinkContext& context);
// The console output (console.h); null for a quiet run.
std::unique_ptr<observe::EventSink> make_console_sink(const SinkContext& context);
// resources.jsonl: a line per sample of a process or a host.
std::unique_ptr<observe::EventSink> make_resources_sink(const SinkContext& context);
// trace.json: the helm's own spans and those of all workers. A record.
std::unique_ptr<observe::EventSink> make_trace_sink(const SinkContext& context);
// summary.json, at the end. A record.
std::unique_ptr<observe::EventSink> make_summary_sink(const SinkContext& context);

}  // namespace trireme::train
