// Recorder: delivers the events of a run to its sinks.
// Thread-safe; the events of one thread reach every sink in order.
//
// Each sink has a thread and a queue of its own, so a slow sink slows neither the run nor the other sinks. A sink is a
// record when the run must not go on without it (EventSink::is_record).
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/system/files.h"
#include "base/text/options.h"
#include "base/text/registry.h"
#include "observe/events.h"
#include "train/recorder/run_control.h"
#include "train/recorder/sink_queue.h"

namespace trireme::train {

// What a sink may know about its run when it is made.
struct SinkContext {
  base::fs::path folder;  // the run folder
  bool is_json = false;   // standard output is reserved for the summary
  bool is_quiet = false;
  std::vector<int> cpus{};                   // the cores on which threads may run; empty: all
  const base::Settings* settings = nullptr;  // the run's options; null where a sink has to do without
  std::shared_ptr<RunControl> control{};     // for sinks that let people steer the run; may be null
};

struct SinkRow {
  std::string name;
  std::string summary;
  // Returns null when the run does not want this sink.
  std::function<std::unique_ptr<observe::EventSink>(const SinkContext& context)> make;
};
using SinkRegistry = base::RegistryOf<SinkRow>;

class Recorder {
 public:
  // Makes the sinks; throws if a sink cannot be made.
  Recorder(const SinkRegistry& sinks, const SinkContext& context);
  // Delivers the queued events. Warns about sinks that were too slow and missed events.
  ~Recorder();

  // Never waits. If a record has failed to take an earlier event, throws its error, in every call from then on.
  void publish(observe::Event event);
  // Waits until all records have taken the events published so far: they are written to the files. Throws like
  // publish().
  void flush();
  // The same for all sinks.
  void flush_all();
  // Why a sink that is no record has failed; empty while it has not, or if there is none of that name.
  std::string why_failed(std::string_view sink) const;
  // True when a record has failed to take an event.
  bool has_failed() const;

 private:
  void throw_errors();

  std::vector<std::unique_ptr<SinkQueue>> sinks_;
};

}  // namespace trireme::train
