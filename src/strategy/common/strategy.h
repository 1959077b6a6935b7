// Strategy: how a worker's steps become everybody's. All replicas hold the same weights when an interval of steps
// begins and when it has ended; in between each strategy does as it likes, so any may follow any other. How a strategy
// is named, configured and made is in strategy/registry/config.h.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "comm/group/group.h"
#include "crew/replica.h"
#include "observe/step_phases.h"
#include "strategy/common/oar_assignment.h"
#include "strategy/common/role_map.h"
#include "strategy/common/updater.h"

namespace trireme::strategy {

using observe::StepSeconds;

// What a worker computes next.
struct Work {
  crew::BatchView batch;
  crew::RandomSeed random;
  base::Range oars;          // of the batch: this worker's
  base::Range mean_over{};   // in groups: the oars of this worker's group
  std::int64_t step = 1;     // counted from 1
  double lr = 0;             // of a synchronous step
  double load_seconds = 0;   // spent on this work already: loading,
  double slept_seconds = 0;  // and sleeping, where a slow machine is played
  bool wants_stop = false;   // this worker was told to end the interval after this step
};

// The seconds of a step that do not depend on the strategy: loading, and what the crew measured. A sleep that plays a
// slow machine counts as backward.
inline StepSeconds seconds_of(const Work& work, const crew::ComputeReport& computed) {
  return {.load = work.load_seconds,
          .forward = computed.forward_seconds,
          .backward = computed.backward_seconds + work.slept_seconds,
          .update = computed.update_seconds};
}
// The same before the step is over: what follows the crew's part is taken from the step before.
inline StepSeconds seconds_so_far(const Work& work, const crew::ComputeReport& computed, const StepSeconds& before) {
  StepSeconds seconds = seconds_of(work, computed);
  seconds.update = before.update;
  seconds.network = before.network;
  seconds.hidden = before.hidden;
  return seconds;
}

// What every worker tells the others about a synchronous step.
struct WorkerStepReport {
  StepSeconds seconds;
  std::int64_t arrived_ns = 0;  // when its gradient was complete; its own clock
  bool wants_stop = false;
  std::size_t under_way = 0;  // buckets that were not added up yet by then
};

struct StepReport {
  double loss = 0, correct = 0;  // sums over `samples`
  std::int64_t samples = 0;      // of the whole batch, or of what was pushed
  double penalty = 0;
  StepSeconds seconds;
  std::vector<WorkerStepReport>
      notes;               // of all workers, after a synchronous step; of a group's members, after its push
  bool must_stop = false;  // somebody wants to; the same on all workers
};

class Strategy {
 public:
  virtual ~Strategy() = default;

  virtual StepReport step(const Work& work) = 0;
  // After the last step of an interval: all replicas hold the same weights again.
  virtual void end_interval() {}
  // How often replicas were brought together since the last call, where they go apart.
  virtual std::int64_t take_synchronisations() { return 0; }
};

// What a worker has.
struct WorkerContext {
  crew::Replica& replica;
  Updater& updater;
  comm::Group& group;  // its collectives are among the workers
  RoleMap roles;
  int worker = 0;
  OarAssignment& assignment;
  std::span<float> gradients;  // memory for several gradients, of the group where it has such
  bool exact = true;
  std::span<float> host_weights{};  // for the weights of all workers, where all are of one host
  std::vector<int> cpus{};          // where threads that help the crew's may run; empty: where the caller's may
  std::int64_t version = 0;         // the step that its weights are of, between intervals
};

}  // namespace trireme::strategy
