// Strategy: how the workers combine their gradients or weights; the worker side of one strategy.
// One caller at a time: the worker's thread.
//
// Invariant: all replicas hold the same weights when an interval of steps begins and after it has ended. In between a
// strategy is free, so any strategy may follow any other. strategy/registry/config.h names, configures and makes them.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "comm/group/group.h"
#include "crew/replica.h"
#include "observe/step_phases.h"
#include "observe/trace/span_recorder.h"
#include "strategy/common/oar_assignment.h"
#include "strategy/common/role_map.h"
#include "strategy/common/updater.h"

namespace trireme::strategy {

using observe::StepSeconds;

// What a worker computes next.
struct Work {
  crew::BatchView batch;
  crew::RandomSeed random;
  base::Range oars;          // this worker's oars of the batch
  base::Range mean_over{};   // with groups: the oars of this worker's group, over which the mean is taken
  std::int64_t step = 1;     // counted from 1
  double lr = 0;             // learning rate; when asynchronous, already scaled (ShareRules::lr_scale)
  double load_seconds = 0;   // already spent on loading this work
  double slept_seconds = 0;  // already spent sleeping, to simulate a slow machine
  bool wants_stop = false;   // this worker was told to end the interval after this step
};

// The seconds of a step that do not depend on the strategy: loading, and what the crew measured. Simulated slowness
// counts as backward.
inline StepSeconds seconds_of(const Work& work, const crew::ComputeReport& computed) {
  return {.load = work.load_seconds,
          .forward = computed.forward_seconds,
          .backward = computed.backward_seconds + work.slept_seconds,
          .update = computed.update_seconds};
}
// The same before the step is over: the times that are not known yet (update, network) are those of the step before.
inline StepSeconds seconds_so_far(const Work& work, const crew::ComputeReport& computed, const StepSeconds& before) {
  StepSeconds seconds = seconds_of(work, computed);
  seconds.update = before.update;
  seconds.network = before.network;
  seconds.hidden = before.hidden;
  return seconds;
}

// What every worker sends to the others about a synchronous step.
struct WorkerStepReport {
  StepSeconds seconds;
  std::int64_t arrived_ns = 0;  // when its gradient was complete, by its own clock
  bool wants_stop = false;
  std::size_t under_way = 0;  // buckets whose sums were still in flight at that time
};

struct StepReport {
  double loss = 0, correct = 0;  // sums over `samples`
  std::int64_t samples = 0;      // of the whole batch; when asynchronous, of this push
  double penalty = 0;
  StepSeconds seconds;
  // After a synchronous step those of all workers; after a push of a group those of its members.
  std::vector<WorkerStepReport> notes;
  bool must_stop = false;  // some worker wants to stop; the same on all workers
};

class Strategy {
 public:
  virtual ~Strategy() = default;

  virtual StepReport step(const Work& work) = 0;
  // Call after the last step of an interval. Afterwards all replicas hold the same weights again.
  virtual void end_interval() {}
  // How often diverged replicas were averaged since the last call; 0 for strategies whose replicas do not diverge.
  virtual std::int64_t take_synchronisations() { return 0; }
};

// What a strategy gets to know and use of its worker. The references must outlive it.
struct WorkerContext {
  crew::Replica& replica;
  Updater& updater;
  comm::Group& group;  // its collectives include the workers only
  RoleMap roles;
  int worker = 0;
  OarAssignment& assignment;
  std::span<float> gradients;       // memory for several whole gradients; memory of the group if the group provides it
  bool exact = true;                // sums are added along the oar tree
  std::span<float> host_weights{};  // one copy of the weights for all workers, if all are on one host
  std::vector<int> cpus{};          // where threads that help the crew may run; empty: as the calling thread
  observe::SpanRecorder* spans = nullptr;  // null: no trace
  std::int64_t version = 0;                // between intervals: the last step that its weights include
};

}  // namespace trireme::strategy
