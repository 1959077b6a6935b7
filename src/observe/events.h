// Event and EventSink: everything that happens in a run as one stream of typed values, published at the helm.
// Events are values; a sink is called by one thread.
// Metrics, console, trace, resources and summary are sinks; anything else that watches a run is another sink. Unknown
// numbers (the accuracy of a regression) are NaN.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <variant>
#include <vector>

#include "base/match.h"
#include "observe/resource_figures.h"
#include "observe/step_phases.h"

namespace trireme::observe {

struct RunStarted {
  std::string model, data, strategy;
  std::string folder;
  std::int64_t parameters = 0;
  std::int64_t train_samples = 0, test_samples = 0;
  std::int64_t batch = 0, oars = 0;
  std::int64_t steps_per_epoch = 0, total_steps = 0;
  std::int64_t first_step = 0;  // updates made before; not 0 in a resumed run
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
  // Totals and means so far:
  double epoch_loss = 0, epoch_accuracy = 0;
  double samples_per_second = 0;
  std::int64_t total_steps = 0;
  double seconds_left = 0;
  std::int64_t time_ns = 0;  // when it was complete; 0: when the event is delivered
};

// A worker or group pushed its gradients (asynchronous strategies).
struct PushDone {
  std::int64_t step = 0;  // that the batch belongs to
  int pusher = 0;         // the worker or group
  bool is_group = false;
  std::int64_t clock = 0;    // earlier pushes of this pusher
  std::int64_t slowest = 0;  // clock of the slowest pusher; only if has_bound
  bool has_bound = false;    // of staleness
  std::int64_t time_ns = 0;  // as in StepDone
};

// Which samples of the training set an epoch used (data::LedgerReport).
struct SamplesUsed {
  std::int64_t samples = 0, used = 0, once = 0, missed = 0, repeated = 0;
  std::string order;
};

// A score of an evaluation beside loss and accuracy: "r2", 0.87.
struct Score {
  std::string name;
  double value = 0;
};

struct EpochDone {
  std::int64_t step = 0, epoch = 0;
  double train_loss = 0, train_accuracy = 0;
  double held_out_loss = 0, held_out_accuracy = 0;
  std::vector<Score> held_out_scores;  // of values and labels
  bool is_validation = false;          // held-out data is the validation share; otherwise the test set
  bool is_best = false;
  double lr = 0;
  std::string strategy;
  SamplesUsed samples_used;
  std::map<std::int64_t, std::int64_t> staleness;  // so far: pushes by staleness
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

// Weights and optimizer state were moved to where the next strategy needs them.
struct HandedOver {
  std::int64_t step = 0;
  std::string strategy;    // the one that takes over
  bool is_switch = false;  // between strategies; otherwise the beginning of a run
  std::int64_t start_ns = 0, end_ns = 0;
};

// The terminal was closed or nobody reads the output any more; the run goes on.
struct Detached {
  std::int64_t step = 0;
  std::string cause;  // "SIGHUP", or why the output cannot be written
};

// A number that is not finite ended the run.
struct Diverged {
  std::int64_t step = 0;
  std::string what;  // "loss"
  double value = 0;
};

// What one worker did since the last WorkersReport.
struct WorkerActivity {
  int worker = 0;
  std::string host{};
  StepSeconds seconds{};                    // sums over its steps or pushes
  std::int64_t steps = 0;                   // or pushes
  double caused_seconds = 0;                // that the others waited for it
  std::int64_t first_oar = 0, end_oar = 0;  // of each batch; equal where shares are handed out
  std::int64_t clock = 0;                   // pushes since the last synchronisation point (asynchronous strategies)
};

// About once a second, and at the end of an interval: what each worker did.
struct WorkersReport {
  std::int64_t step = 0;
  double seconds = 0;  // that the report covers
  std::vector<WorkerActivity> workers{};
  std::string lateness{};  // who makes the others wait, as a sentence; empty if nobody does
};

// Equal intervals from `low` to `high`.
struct Histogram {
  double low = 0, high = 0;
  std::vector<std::int64_t> counts;
};

// With --watch-layers: norms and values of each parameter.
struct LayerStatistics {
  struct Parameter {
    std::string name;
    std::int64_t elements = 0;
    double weights = 0, gradients = 0, updates = 0;  // L2 norms; NaN if unknown
    Histogram weight_values, gradient_values;        // without counts if unknown
  };
  std::int64_t step = 0;
  std::vector<Parameter> parameters;
};

// With --hash-every.
struct WeightsHashed {
  std::int64_t step = 0;
  std::string sha256;  // as in the summary
};

// After an evaluation of a classification with at most 100 classes.
struct ConfusionCounted {
  std::int64_t step = 0, epoch = 0;
  bool is_validation = false;
  std::vector<std::string> classes;
  std::vector<std::int64_t> counts;  // row-major: row = true class, column = predicted class
};

struct WorkerLost {
  std::int64_t step = 0;
  std::string who;
  int workers_left = 0;
};

// Steps after this one will be computed again. A sink that keeps data by step must discard what it has of them.
struct RolledBack {
  std::int64_t step = 0;
  bool is_within_epoch = false;  // the end of the epoch at this step is withdrawn, too
  bool is_resume = false;        // a run starts here; otherwise a running one goes back
  std::int64_t time_ns = 0;
};

// A line of resources.jsonl, about a process or a host.
struct ResourcesUsed {
  std::string line;
  ResourceFigures figures{};
};

// Spans of a process, as observe::pack() made them of a SpanChunk.
struct SpansRecorded {
  std::string packed;
};

struct RunFinished {
  std::string summary;             // one line of JSON, see docs/run_folder.md
  std::vector<std::string> lines;  // for the user
  std::int64_t steps_here = 0;     // made by this process
};

// Published after the end of the run, with --profile.
struct ProfileDone {
  std::vector<std::string> lines;  // for the user
};

using Event = std::variant<RunStarted, StepDone, PushDone, EpochDone, StoppedEarly, CheckpointWritten, HandedOver,
                           WorkerLost, RolledBack, ResourcesUsed, SpansRecorded, RunFinished, ProfileDone, Detached,
                           Diverged, WorkersReport, LayerStatistics, ConfusionCounted, WeightsHashed>;

// Whether a slow sink may miss the event, because a newer one replaces it.
inline bool is_droppable(const Event& event) {
  return std::holds_alternative<StepDone>(event) || std::holds_alternative<PushDone>(event) ||
         std::holds_alternative<ResourcesUsed>(event) || std::holds_alternative<WorkersReport>(event) ||
         std::holds_alternative<SpansRecorded>(event);
}

// Receives the events of a run in order, in a thread of its own, so it may block.
class EventSink {
 public:
  virtual ~EventSink() = default;

  virtual void on(const Event& event) = 0;
  // Which events the sink receives. The publisher's thread calls it: it must be quick and depend on the event's type
  // only.
  virtual bool wants(const Event&) const { return true; }
  // Whether the sink keeps a record of the run. A record gets every event, and the run stops if it cannot be written.
  // Any other sink may miss droppable events if it is slow; if it throws, the run continues without it.
  virtual bool is_record() const { return false; }
};

}  // namespace trireme::observe
