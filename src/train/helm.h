// Helm: the role that leads a run. It holds the run folder, orders stretches of steps, evaluations and hand-overs,
// hears what workers report, decides when to stop, writes checkpoints and the summary. It runs in a thread of process 0
// and knows the others only by their mail, wherever they are.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/options.h"
#include "comm/group.h"
#include "data/ledger.h"
#include "observe/resources.h"
#include "observe/trace.h"
#include "optim/early_stopping.h"
#include "strategy/spec.h"
#include "strategy/updater.h"
#include "train/console.h"
#include "train/coordinator.h"
#include "train/evaluate.h"
#include "train/experiment.h"
#include "train/lateness.h"
#include "train/mail.h"
#include "train/progress.h"
#include "train/run_folder.h"
#include "train/summary.h"

namespace trireme::train {

// The replica of a worker that lives in the helm's process.
struct LocalReplica {
  crew::Crew* crew = nullptr;
  strategy::Updater* updater = nullptr;
};

// After some workers were lost: who they were, by their old numbers, the highest first; and what is left.
struct Regrouped {
  std::vector<int> lost;
  strategy::Cast cast;
  std::vector<strategy::Phase> phases;
  std::vector<std::string> hosts;
  std::vector<int> threads;
};

class Helm {
 public:
  struct Place {
    const base::Settings& settings;
    const Experiment& experiment;
    comm::Group& group;
    strategy::Cast cast;
    std::vector<strategy::Phase> phases;
    std::shared_ptr<const optim::Optimizer> optimizer;
    const tensor::ParameterSpace& space;
    std::vector<graph::KernelPrint> prints;
    std::vector<std::string> hosts;  // of each process
    std::vector<int> threads;        // of each worker
    std::vector<std::string> notes;  // sentences for the user
    LocalReplica local;              // of worker 0, where it is here
    std::function<bool()> interrupted;
    // Called when the group is broken: lets those who are left find together again. Nothing when they cannot go on.
    std::function<std::optional<Regrouped>()> regroup;
  };
  explicit Helm(Place place);
  ~Helm();

  // The whole run; the summary as one line of JSON. When it throws, everybody was told to end, as far as they could be
  // reached.
  std::string conduct();

 private:
  bool has_accuracy() const { return place_.experiment.train->spec().target != data::TargetKind::values; }
  bool is_over() const { return progress_.step >= place_.experiment.total_steps || stopped_early_; }
  double epoch_loss() const { return progress_.epoch_loss / static_cast<double>(progress_.epoch_samples); }
  double epoch_accuracy() const;
  std::size_t phase_of(std::int64_t step) const;  // counted from 0
  const strategy::Plan& plan() const { return place_.phases[phase_].plan; }
  int rowers() const { return plan().rowers(place_.cast.workers); }
  int process_of_rower(int rower) const { return place_.cast.process_of_worker(plan().workers_of(rower).front()); }

  // Mail.
  comm::Post& post() { return place_.group.post(); }
  void order_workers(const std::string& order);
  void order_servers(const std::string& order);
  void compare_clocks();

  // The beginning.
  void begin_new();
  void begin_resumed(const std::string& run);
  void restore_from(const store::LoadedCheckpoint& loaded);
  data::Ledger ledger_of(const store::LoadedCheckpoint& loaded) const;  // a user error when it is damaged
  void open_records();
  void say_hello();

  // Weights and optimizer state.
  struct State {
    std::span<float> weights;
    std::vector<std::span<float>> slots;
  };
  State memory();   // to be filled here
  State collect();  // from whoever holds it
  void spread(const State& state, bool with_optimizer);
  void hand_over_to(std::size_t next);

  // Stretches of steps.
  void loop();
  void hold_meeting();
  bool go_on_without_lost();  // false when that cannot be
  std::int64_t next_meeting() const;
  void row_until(std::int64_t to);
  void hear();
  void hear_row(std::span<const double> numbers, int from);
  void hear_push(const StepNews& push);
  void answer_question(int rower);
  void send_limits();
  void stop_stretch();
  struct StepResult {
    std::int64_t step = 0;
    double loss = 0, correct = 0, samples = 0, penalty = 0, lr = 0;  // loss: sum
    strategy::StepSeconds seconds{};
  };
  void on_step(const StepResult& step);
  [[noreturn]] void stop_at_nan(const char* what, double value, std::int64_t step, std::int64_t epoch) const;

  // Meetings between stretches.
  Evaluation evaluate_on(bool validation);
  void end_epoch(bool whole);
  void forget_worker(int worker);
  void report_epoch(std::int64_t epoch, const Evaluation& result, bool best);
  data::Ledger ledger() const;  // of this epoch, of all
  void checkpoint(const State& state, bool best);
  std::string finish();
  RunDetails details() const;
  void gather_traffic(RunDetails& details);
  void gather_traces();
  void keep_trace_of_failure();
  void end_all();

  Place place_;
  Console console_;
  std::int64_t checkpoint_every_ = 0;
  int keep_ = 1;
  std::int64_t patience_;
  optim::EarlyStopping early_stopping_;
  std::optional<RunFolder> folder_;
  std::optional<store::CheckpointStore> checkpoints_;
  std::optional<base::LineWriter> metrics_;
  std::optional<observe::ResourceWatch> resources_;
  std::optional<base::LineWriter> other_resources_;
  observe::Trace trace_;
  std::vector<std::string> notes_;

  std::vector<std::vector<float>> own_memory_;  // weights and slots, where no worker is here
  std::vector<std::int64_t> clock_ahead_ns_;    // per worker
  Progress progress_;
  data::Ledger ledger_;                                    // of this epoch, before this process
  std::vector<std::optional<data::Ledger>> ledger_parts_;  // of this epoch, per worker
  std::vector<std::vector<Coordinator::Share>> pushed_;    // of this epoch, per worker
  bool new_ledger_ = true;                                 // the epoch begins with the next stretch
  bool stopped_early_ = false;
  std::size_t phase_ = 0;
  bool servers_hold_ = false;
  double lr_ = 0;
  std::optional<Evaluation> last_test_;

  std::vector<double> report_room_ = std::vector<double>(kMostNumbers);

  // Of a stretch.
  std::optional<Coordinator> coordinator_;  // of an asynchronous one
  bool meeting_is_due_ = false;             // after it
  std::int64_t met_at_ = 0;                 // the step of the last one
  int ended_ = 0;                           // workers
  bool told_to_stop_ = false;
  std::vector<std::int64_t> limits_;  // that were sent, per rower
  bool interrupted_ = false;
  std::exception_ptr failure_;

  // Of this process.
  Seconds seconds_;
  std::optional<Lateness> lateness_;
  std::map<std::int64_t, std::int64_t> staleness_;
  std::int64_t synchronisations_ = 0;  // of replicas that go apart
  double hand_over_seconds_ = 0;
  int hand_overs_ = 0;
  std::vector<std::string> lost_;  // workers
  std::vector<base::Range> shares_;
  std::int64_t start_ns_ = 0, start_step_ = 0, samples_here_ = 0;
  std::int64_t epoch_start_ns_ = 0, epoch_start_samples_ = 0;
  double epoch_start_seconds_ = 0, seconds_before_ = 0;
};

}  // namespace trireme::train
