// Recorder: delivers the events of a run to its sinks. Each sink has a thread and a queue of its own, so a slow one
// slows neither the run nor the others. Any thread may publish; the events of one thread reach every sink in order.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/system/files.h"
#include "base/text/registry.h"
#include "observe/events.h"
#include "train/recorder/sink_queue.h"

namespace trireme::train {

// What a sink may know about its run when it is made.
struct SinkContext {
  base::fs::path folder;  // of the run
  bool is_json = false;   // standard output belongs to the summary
  bool is_quiet = false;
  std::vector<int> cpus{};  // where threads may run; empty: anywhere
};

struct SinkRow {
  std::string name;
  std::string summary;
  // Null where a run does not want one.
  std::function<std::unique_ptr<observe::EventSink>(const SinkContext& context)> make;
};
using SinkRegistry = base::RegistryOf<SinkRow>;

class Recorder {
 public:
  // Makes the sinks; throws what a sink throws that cannot begin.
  Recorder(const SinkRegistry& sinks, const SinkContext& context);
  // Delivers what waits. Warns about sinks that were too slow to hear all.
  ~Recorder();

  // Never waits. Throws the error of a record that could not take an earlier event; from then on, every time.
  void publish(observe::Event event);
  // Waits until all records have taken what was published so far: it is on disk. Throws as publish().
  void flush();
  // The same of all sinks.
  void flush_all();
  // Whether a record could not take an event.
  bool has_failed() const;

 private:
  void throw_errors();

  std::vector<std::unique_ptr<SinkQueue>> sinks_;
};

}  // namespace trireme::train
