// Events: everything that happens in a run, as one stream of typed values at the helm, and EventSink, who hears it:
// metrics, console, trace, resources and summary are sinks, and whatever else wants to watch a run is one more.
//
// Numbers that are not known (the accuracy of a regression) are NaN.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <variant>
#include <vector>

#include "base/match.h"
#include "observe/step_phases.h"

namespace trireme::observe {

struct RunStarted {
  std::string model, data, strategy;
  std::string folder;
  std::int64_t parameters = 0;
  std::int64_t train_samples = 0, test_samples = 0;
  std::int64_t batch = 0, oars = 0;
  std::int64_t steps_per_epoch = 0, total_steps = 0;
  std::int64_t first_step = 0;  // updates made before: not 0 in a run that was resumed
  int workers = 1, servers = 0;
  int processes = 1;
  std::vector<int> threads;        // per worker
  std::vector<std::string> notes;  // sentences for the user
};

struct StepDone {
  std::int64_t step = 0;   // counted from 1
  std::int64_t epoch = 0;  // counted from 0, as everywhere here
  double loss = 0, accuracy = 0;
  double lr = 0;
  StepSeconds seconds{};  // mean over the workers
  // So far:
  double epoch_loss = 0, epoch_accuracy = 0;
  double samples_per_second = 0;
  std::int64_t total_steps = 0;
  double seconds_left = 0;
};

// One push of an asynchronous strategy.
struct PushDone {
  std::int64_t step = 0;  // of its batch
  int pusher = 0;         // worker or group
  bool is_group = false;
  std::int64_t clock = 0;    // pushes of this pusher before
  std::int64_t slowest = 0;  // of the slowest; only where there is a bound
  bool has_bound = false;
};

// What an epoch used of the training set (data::LedgerReport).
struct SamplesUsed {
  std::int64_t samples = 0, used = 0, once = 0, missed = 0, repeated = 0;
  std::string order;
};

struct EpochDone {
  std::int64_t step = 0, epoch = 0;
  double train_loss = 0, train_accuracy = 0;
  double held_out_loss = 0, held_out_accuracy = 0;
  bool is_validation = false;  // what is held out is the validation share, otherwise the test set
  bool is_best = false;
  double lr = 0;
  std::string strategy;
  SamplesUsed samples_used;
  std::map<std::int64_t, std::int64_t> staleness;  // so far
  double seconds = 0, samples_per_second = 0;
};

struct StoppedEarly {
  std::int64_t patience = 0;  // epochs
};

struct CheckpointWritten {
  std::int64_t step = 0;
  bool is_best = false;
  std::int64_t start_ns = 0, end_ns = 0;  // base::now_ns(), as everywhere here
};

// Weights and optimizer state went to where the next strategy wants them.
struct HandedOver {
  std::int64_t step = 0;
  std::string strategy;    // that takes over
  bool is_switch = false;  // of strategies; otherwise the beginning of a run
  std::int64_t start_ns = 0, end_ns = 0;
};

struct WorkerLost {
  std::int64_t step = 0;
  std::string who;
  int workers_left = 0;
};

// What was told of steps after this one is no longer true: they will be made again. Every sink that keeps something by
// step must forget it.
struct RolledBack {
  std::int64_t step = 0;
  bool is_within_epoch = false;  // then the epoch's end at this step is taken back, too
  bool is_resume = false;        // a run begins here; otherwise one goes back
  std::int64_t time_ns = 0;
};

// A line of resources.jsonl from another process.
struct ResourcesUsed {
  std::string line;
};

// The spans of a worker (observe::Trace::pack).
struct RankTrace {
  int rank = 0;
  std::string name;
  std::string packed;
  std::int64_t clock_ahead_ns = 0;
};
// All spans were told that can be: the trace may be written.
struct TraceComplete {};

struct RunFinished {
  std::string summary;             // one line of JSON, see docs/run_folder.md
  std::vector<std::string> lines;  // for people
  std::int64_t steps_here = 0;     // by this process
};

// After the end, where --profile asks for it.
struct ProfileDone {
  std::vector<std::string> lines;  // for people
};

using Event = std::variant<RunStarted, StepDone, PushDone, EpochDone, StoppedEarly, CheckpointWritten, HandedOver,
                           WorkerLost, RolledBack, ResourcesUsed, RankTrace, TraceComplete, RunFinished, ProfileDone>;

// Whether a sink that falls behind may miss it: something newer says more.
inline bool is_droppable(const Event& event) {
  return std::holds_alternative<StepDone>(event) || std::holds_alternative<PushDone>(event) ||
         std::holds_alternative<ResourcesUsed>(event);
}

// Hears the events of a run, in order, in a thread of its own: it may take its time.
class EventSink {
 public:
  virtual ~EventSink() = default;

  virtual void on(const Event& event) = 0;
  // Which events it hears at all. Called by whoever publishes: quick, and the same for all events of a kind.
  virtual bool wants(const Event&) const { return true; }
  // A record loses no event, and the run stops when it cannot be written. Other sinks may miss droppable events when
  // they are slow, and when they throw the run goes on without them.
  virtual bool is_record() const { return false; }
};

}  // namespace trireme::observe
