// Strategy: how a worker's steps become everybody's. All replicas hold the same weights when a stretch of steps begins
// and when it has ended; in between each strategy does as it likes, so any may follow any other.
//
// Adding one: its file, its factory below, one line in the list of spec.cpp, one row in the tests, one paragraph in
// docs/strategies.md.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "comm/group.h"
#include "crew/crew.h"
#include "strategy/assignment.h"
#include "strategy/cast.h"
#include "strategy/updater.h"

namespace trireme::strategy {

struct StepSeconds {
  double load = 0, forward = 0, backward = 0, update = 0;
  double network = 0;  // that the computation waited for
  double hidden = 0;   // communication that it did not wait for
  double compute() const { return forward + backward; }
};

// What a worker rows next.
struct Work {
  crew::BatchView batch;
  crew::Draw draw;
  base::Range oars;          // of the batch: this worker's
  base::Range mean_over{};   // in groups: the oars of this worker's group
  std::int64_t step = 1;     // counted from 1
  double lr = 0;             // of a synchronous step
  double load_seconds = 0;   // spent on this work already: loading,
  double slept_seconds = 0;  // and sleeping, where a slow machine is played
  bool wants_stop = false;   // this worker was told to end the stretch after this step
};

// What every worker tells the others about a synchronous step.
struct Note {
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
  std::vector<Note> notes;  // of all workers, after a synchronous step; of a group's members, after its push
  bool must_stop = false;   // somebody wants to; the same on all workers
};

class Strategy {
 public:
  virtual ~Strategy() = default;

  virtual StepReport step(const Work& work) = 0;
  // After the last step of a stretch: all replicas hold the same weights again.
  virtual void end_stretch() {}
  // How often replicas were brought together since the last call, where they go apart.
  virtual std::int64_t take_synchronisations() { return 0; }
};

// What a worker has.
struct Worker {
  crew::Crew& crew;
  Updater& updater;
  comm::Group& group;  // its collectives are among the workers
  Cast cast;
  int worker = 0;
  Assignment& assignment;
  std::span<float> gradients;  // memory for several gradients, of the group where it has such
  bool exact = true;
  std::span<float> host_weights{};  // for the weights of all workers, where all are of one host
  std::vector<int> cpus{};          // where threads that help the crew's may run; empty: where the caller's may
};

std::unique_ptr<Strategy> make_single(crew::Crew& crew, Updater& updater);

struct AllReduceOptions {
  comm::Algorithm algorithm = comm::Algorithm::automatic;
  std::int64_t bucket_bytes = 0;  // 0: the default
};
// Whether an algorithm can add along the oar tree.
inline bool adds_exactly(comm::Algorithm algorithm) {
  return algorithm == comm::Algorithm::automatic || algorithm == comm::Algorithm::direct;
}
std::unique_ptr<Strategy> make_all_reduce(const Worker& worker, const AllReduceOptions& options);

}  // namespace trireme::strategy
