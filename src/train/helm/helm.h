// Helm: the role that leads a run, its conductor: it orders intervals of steps, evaluations and hand-overs, hears what
// workers report and decides when to stop. The state of the run is the StateKeeper's, and what happens goes as events
// to the Recorder. It runs in a thread of process 0 and knows the others only by their messages, wherever they are.
//
// helm.cpp: beginning, loop, regrouping; helm_steps.cpp: during an interval; helm_meetings.cpp: between intervals.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/text/options.h"
#include "comm/group/group.h"
#include "strategy/phases.h"
#include "train/evaluation/evaluate.h"
#include "train/experiment/experiment.h"
#include "train/helm/coordinator.h"
#include "train/helm/helm_mailbox.h"
#include "train/helm/state_keeper.h"
#include "train/helm/straggler_monitor.h"
#include "train/recorder/recorder.h"
#include "train/results/summary.h"
#include "train/run_folder/run_folder.h"

namespace trireme::train {

// After some workers were lost: who they were, by their old numbers, the highest first; and what is left.
struct Regrouped {
  std::vector<int> lost;
  strategy::RoleMap roles;
  std::vector<strategy::Phase> phases;
  std::vector<std::string> hosts;
  std::vector<int> threads;
};

class Helm {
 public:
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
    LocalReplica local;              // of worker 0, where it is here
    std::function<bool()> interrupted;
    // Called when the group is broken: lets those who are left find together again. Nothing when they cannot go on.
    std::function<std::optional<Regrouped>()> regroup;
    const SinkRegistry& sinks;  // who hears what happens in the run
  };
  explicit Helm(Context context);
  ~Helm();

  // The whole run; the summary as one line of JSON. When it throws, everybody was told to end, as far as they could be
  // reached.
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
  void say_hello();

  // Intervals of steps.
  void loop();
  void hand_over_to(std::size_t next);
  void hold_meeting();
  bool go_on_without_lost();  // false when that cannot be
  std::int64_t next_meeting() const;
  void compute_until(std::int64_t to);
  void poll_reports();
  void handle_resources();
  void handle_report(const Report& report);
  void handle_interval_end(const IntervalEndMessage& message);
  void handle_push(const PushMessage& push);
  void answer_share_request(int pusher);
  void send_limits();
  void stop_interval();
  void on_step(const Coordinator::Step& step);
  [[noreturn]] void stop_at_nan(const char* what, double value, std::int64_t step, std::int64_t epoch) const;

  // Meetings between intervals.
  Evaluation evaluate_on(bool validation);
  void end_epoch(bool whole);
  void forget_worker(int worker);
  void report_epoch(std::int64_t epoch, const Evaluation& result, bool best);
  void checkpoint(const StateKeeper::Floats& floats, bool best);
  std::string finish();
  void report_profile();
  RunDetails details() const;
  void gather_traffic(RunDetails& details);
  void record_traces();
  void keep_trace_of_failure();
  void end_all();

  Context context_;
  HelmMailbox helm_mailbox_;
  std::int64_t checkpoint_every_ = 0;
  int keep_ = 1;
  std::int64_t patience_;
  StateKeeper state_;
  std::optional<RunFolder> folder_;
  std::optional<store::CheckpointStore> checkpoints_;
  std::optional<Recorder> recorder_;
  std::vector<std::string> notes_;

  std::vector<std::int64_t> clock_ahead_ns_;  // per worker
  std::size_t phase_ = 0;
  double lr_ = 0;
  std::optional<Evaluation> last_test_;

  // Of an interval.
  std::optional<Coordinator> coordinator_;  // of an asynchronous one
  bool meeting_is_due_ = false;             // after it
  std::int64_t met_at_ = 0;                 // the step of the last one
  int ended_ = 0;                           // workers
  bool told_to_stop_ = false;
  std::vector<std::int64_t> limits_;  // that were sent, per pusher
  bool interrupted_ = false;
  std::exception_ptr failure_;

  // Of this process.
  Seconds seconds_;
  std::optional<StragglerMonitor> straggler_monitor_;
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
