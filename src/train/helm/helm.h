// Helm: the role that leads a run: it orders intervals of steps, evaluations, checkpoints and hand-overs, receives the
// workers' reports and decides when to stop.
// Runs in a thread of process 0 and communicates with all workers and servers by messages only.
//
// The StateKeeper has the state of the run; the Recorder gets everything that happens as events.
// helm.cpp: beginning, loop, regrouping; helm_steps.cpp: during an interval; helm_meetings.cpp: between intervals.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/text/options.h"
#include "comm/group/group.h"
#include "observe/resource_totals.h"
#include "observe/resources.h"
#include "strategy/phases.h"
#include "train/evaluation/evaluate.h"
#include "train/experiment/experiment.h"
#include "train/helm/coordinator.h"
#include "train/helm/helm_mailbox.h"
#include "train/helm/state_keeper.h"
#include "train/helm/straggler_monitor.h"
#include "train/observer/span_outlet.h"
#include "train/recorder/recorder.h"
#include "train/results/summary.h"
#include "train/run_folder/checkpoint_interval.h"
#include "train/run_folder/run_folder.h"

namespace trireme::train {

// The group after the loss of workers.
struct Regrouped {
  std::vector<int> lost;  // old numbers of the lost workers, highest first; the members below describe who is left
  strategy::RoleMap roles;
  std::vector<strategy::Phase> phases;
  std::vector<std::string> hosts;
  std::vector<int> threads;
};

class Helm {
 public:
  // What has come from outside; thread-safe.
  struct Signals {
    std::function<bool()> interrupted;  // the run must checkpoint and end
    std::function<bool()> hung_up;      // the terminal was closed
  };
  struct Context {
    const base::Settings& settings;
    const Experiment& experiment;
    comm::Group& group;
    strategy::RoleMap roles;
    std::vector<strategy::Phase> phases;
    std::shared_ptr<const optim::Optimizer> optimizer;
    const tensor::ParameterSpace& space;
    std::vector<graph::KernelPrint> prints;
    std::vector<std::string> hosts;  // of each process
    std::vector<int> threads;        // of each worker
    std::vector<std::string> notes;  // sentences for the user
    LocalReplica local;              // of worker 0, if it is in this process
    Signals signals;
    // Called when the group is broken: forms a new group of the remaining processes. Nullopt when they cannot go on.
    std::function<std::optional<Regrouped>()> regroup;
    const SinkRegistry& sinks;            // the receivers of the run's events
    SpanOutlet* spans = nullptr;          // gives the spans of all processes; null: no trace
    std::function<void()> drain_spans{};  // passes on the spans that have arrived
  };
  explicit Helm(Context context);
  ~Helm();

  // Leads the whole run; returns the summary as one line of JSON. When it throws, it has ordered all roles that it
  // could reach to end.
  std::string conduct();

 private:
  std::size_t phase_of(std::int64_t step) const;  // counted from 0
  const strategy::Phase& phase() const { return context_.phases[phase_]; }
  int pushers() const { return phase().shares().pushers(context_.roles.workers); }
  int process_of_pusher(int pusher) const {
    return context_.roles.process_of_worker(phase().shares().workers_of(pusher).front());
  }

  // Messages.
  comm::Mailbox& mailbox() { return context_.group.mailbox(); }
  void compare_clocks();

  // The beginning.
  void start_from_other_weights();
  void begin_new();
  void begin_resumed(const std::string& run);
  void restore_from(const store::LoadedCheckpoint& loaded);
  void open_records();
  std::uint64_t needed_bytes() const;  // on the disk, for the next checkpoint
  void say_hello();

  // Intervals of steps.
  void loop();
  void hand_over_to(std::size_t next);
  void hold_meeting();
  void rest_while_paused();
  void watch_weights();
  bool is_watched(std::int64_t every, std::int64_t step) const;
  bool meets_anywhere() const;
  bool go_on_without_lost();  // false when the run cannot go on without the lost workers
  std::int64_t next_meeting() const;
  void compute_until(std::int64_t to);
  void poll_reports();
  void report_workers();
  void watch_resources();
  void handle_resources();
  void note_resources(observe::ResourcesUsed used);
  void handle_report(const Report& report);
  void handle_interval_end(const IntervalEndMessage& message);
  void handle_push(const PushMessage& push);
  void answer_share_request(int pusher);
  void send_limits();
  void stop_interval();
  void stop_for_checkpoint();
  void note_detachment();
  void on_step(const Coordinator::Step& step);
  [[noreturn]] void stop_at_nan(const char* what, double value, std::int64_t step, std::int64_t epoch);

  // Meetings between intervals.
  Evaluation evaluate_on(bool validation);
  void end_epoch(bool whole);
  void forget_worker(int worker);
  bool writes_checkpoint_after_epoch(bool whole, bool best) const;
  void report_epoch(std::int64_t epoch, const Evaluation& result, bool best);
  void report_confusion(std::int64_t epoch, const Evaluation& result, bool is_validation);
  void checkpoint(const StateKeeper::Floats& floats, bool best);
  std::string finish();
  void report_profile();
  RunDetails details() const;
  void gather_traffic(RunDetails& details);
  void gather_spans();
  void gather_spans_of_failure();
  void end_all();

  Context context_;
  HelmMailbox helm_mailbox_;
  CheckpointInterval checkpoint_every_;
  std::int64_t last_checkpoint_ns_ = 0;  // when the last one was written, or training began
  std::int64_t last_checkpoint_step_ = 0;
  std::shared_ptr<RunControl> control_ = std::make_shared<RunControl>();
  int keep_ = 1;
  std::int64_t patience_;
  std::int64_t watch_layers_, hash_every_;  // steps; 0: never
  StateKeeper state_;
  std::optional<RunFolder> folder_;
  std::optional<store::CheckpointStore> checkpoints_;
  std::optional<Recorder> recorder_;
  std::vector<std::string> notes_;
  observe::ResourceTotals resource_totals_;
  std::vector<std::byte> resource_room_;             // for a message about another process
  std::optional<observe::ResourceWatch> resources_;  // of this process; publishes to the recorder

  std::vector<std::int64_t> clock_ahead_ns_;  // per worker
  std::size_t phase_ = 0;
  double lr_ = 0;
  std::optional<Evaluation> last_test_;

  // The current interval.
  std::optional<Coordinator> coordinator_;  // only if it is asynchronous
  bool meeting_is_due_ = false;             // the interval is over, its meeting is not
  std::int64_t met_at_ = 0;                 // the step of the last meeting
  std::int64_t watched_at_ = 0;             // the step of the last lines about weights
  int ended_ = 0;                           // workers that have ended the interval
  bool told_to_stop_ = false;
  std::int64_t workers_reported_ns_ = 0;
  std::vector<std::int64_t> limits_;  // per pusher: the last limit that was sent
  bool checkpoint_is_due_ = false;    // its time has come: the interval was told to stop for it
  bool interrupted_ = false;
  bool is_detached_ = false;   // from the terminal or from who read the output, and the records say so
  std::string go_on_command_;  // after this failure, without the program's name; empty: to resume
  std::exception_ptr failure_;

  // Totals of this process, for the summary.
  Seconds seconds_;
  std::optional<StragglerMonitor> straggler_monitor_;
  std::map<std::int64_t, std::int64_t> staleness_;
  std::int64_t synchronisations_ = 0;  // averages of diverged replicas
  double hand_over_seconds_ = 0;
  int hand_overs_ = 0;
  std::vector<std::string> lost_;    // the lost workers, for the user
  std::vector<base::Range> shares_;  // oars of each worker in the last synchronous step
  std::int64_t start_ns_ = 0, start_step_ = 0, samples_here_ = 0;
  std::int64_t epoch_start_ns_ = 0, epoch_start_samples_ = 0;
  double epoch_start_seconds_ = 0, seconds_before_ = 0;
};

}  // namespace trireme::train
