// Worker: the role that computes: it carries out the helm's orders: intervals of steps with some strategy, parts of an
// evaluation, hand-overs of weights and optimizer state.
// Runs in the first thread of its process.
#pragma once

#include <array>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/system/clock.h"
#include "base/text/options.h"
#include "comm/group/group.h"
#include "crew/crew.h"
#include "data/loading/loader.h"
#include "data/sampling/ledger.h"
#include "observe/trace/span_recorder.h"
#include "optim/learning_rate_schedule.h"
#include "strategy/affinity/core_rotation.h"
#include "strategy/common/strategy.h"
#include "strategy/phases.h"
#include "train/experiment/experiment.h"
#include "train/messages/orders.h"
#include "train/messages/reports.h"
#include "train/worker/simulated_slowdown.h"
#include "train/worker/step_spans.h"

namespace trireme::train {

class Worker {
 public:
  // What the roles of a process share. The references must outlive the worker.
  struct Context {
    const base::Settings& settings;
    const Experiment& experiment;
    comm::Group& group;
    strategy::RoleMap roles;
    int worker = 0;
    std::vector<strategy::Phase> phases;
    std::shared_ptr<const optim::Optimizer> optimizer;
    observe::SpanRecorder* spans = nullptr;  // of this process; null: no trace
    std::function<void()> send_spans{};      // to the helm, all of the last seconds
  };
  explicit Worker(const Context& context);
  ~Worker();

  crew::Crew& crew() { return *crew_; }
  strategy::Updater& updater() { return *updater_; }
  // Moves the weights to memory that the other workers of this host can reach.
  void move_weights(float* memory) { crew_->move_weights(memory); }
  // `gradients`: memory for gradients. `host_weights`: one copy of the weights for all workers if all are on this host,
  // else empty. `threads`: of each worker.
  void prepare(std::span<float> gradients, std::span<float> host_weights, const std::vector<int>& threads);
  // The core slots of all workers, by worker number. REQUIRES: all workers are on this host.
  void share_cores(std::vector<strategy::CoreSlot*> core_slots);

  // Returns when the helm has ordered the end.
  void follow_orders();
  // True when the current (or last) interval can go on after the loss of another worker.
  bool outlives_workers() const { return context_.phases[phase_].traits().outlives_workers; }
  // Drops everything that uses the group. Call it before the group is replaced: the strategy may still wait for the
  // group's background collectives.
  void leave_group();
  // Continues in the new group, with a new worker number among fewer workers.
  void regroup(const strategy::RoleMap& roles, int worker, std::vector<strategy::Phase> phases,
               const std::vector<int>& threads);

 private:
  void compute(const ComputeOrder& order);
  void compute_together(std::size_t phase, std::int64_t from, std::int64_t to);
  void compute_shares(std::size_t phase, std::int64_t from, double lr_scale);
  strategy::StepReport one_step(const data::Batch& batch, base::Range oars, std::int64_t step, double lr, double loaded,
                                base::Range mean_over = {});
  ShareReply next_share(int pusher, const std::vector<int>& group);
  strategy::WorkerContext as_strategies_see_it();
  strategy::Strategy& strategy_of(std::size_t phase);
  data::LoaderOptions loader_options() const;
  data::Slice slice_of(std::int64_t step, base::Range oars) const;
  std::int64_t step_of(const data::Batch& batch) const;
  double lr_at(std::int64_t step) const;  // counted from 0
  bool told_to_stop();
  void wait_for_limit(std::int64_t interval, std::int64_t clock);
  void send_to_helm(const Report& report);
  void report_links(double after_seconds);
  void evaluate(const EvaluateOrder& order);
  void hand_over(const HandOverOrder& order);
  void give_state();
  void take_state(const ReceiveStateOrder& order);

  Context context_;
  std::unique_ptr<optim::LearningRateSchedule> schedule_;
  std::optional<StepSpans> spans_;
  std::unique_ptr<crew::Crew> crew_;
  std::unique_ptr<strategy::Updater> updater_;
  SimulatedSlowdown slowdown_;
  double sample_seconds_ = 0;  // forward and backward of a sample, the fastest so far: on an otherwise idle core
  std::optional<strategy::CoreRotation> core_rotation_;
  std::span<float> gradients_, host_weights_;
  std::unique_ptr<strategy::OarAssignment> assignment_;
  std::size_t phase_ = 0;  // of the last ComputeOrder
  // The phase whose strategy determines which parts of the state this worker owns. Nullopt: it owns all of it, as
  // received from the helm or initialised by itself.
  std::optional<std::size_t> state_phase_;
  std::int64_t version_ = 0;        // the last step that the weights include
  std::size_t strategy_phase_ = 0;  // the phase of strategy_
  std::unique_ptr<strategy::Strategy> strategy_;
  // The loader that prefetches the next steps of a synchronous phase.
  struct Ahead;
  std::unique_ptr<Ahead> ahead_;
  data::Ledger ledger_;
  std::int64_t links_reported_ns_ = base::now_ns();
  std::int64_t limit_ = 0, slowest_ = 0;  // from the helm's last LimitMessage
  crew::BatchView view_;
};

}  // namespace trireme::train
