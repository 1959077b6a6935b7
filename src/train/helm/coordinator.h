// Coordinator: assigns the shares of an asynchronous interval to the workers that ask, each share once.
// Runs in the helm's thread.
//
// It also keeps the workers' clocks, a histogram of staleness, and the sums of the pushes of each global batch.
// "Worker" means pusher here: a group of workers counts as one.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "base/oar_tree.h"
#include "strategy/server/worker_clocks.h"
#include "train/messages/reports.h"

namespace trireme::train {

class Coordinator {
 public:
  // Steps [from, to), counted from 0, each cut into one share per worker.
  Coordinator(int workers, int oars, std::int64_t from, std::int64_t to, strategy::StalenessBound bound);

  struct Share {
    std::int64_t step = -1;  // -1: no share is left
    base::Range oars;
  };
  Share hand_out(int worker);
  // The share that the worker pushes next: the oldest that it has.
  Share in_hand(int worker) const;
  // Ends the interval early: only the remaining shares of steps that have begun are handed out.
  void stop() { to_ = from_ + (handed_ + cut_ - 1) / cut_; }

  // Takes a completed push. Returns the steps that it completes, in order.
  struct Step {
    std::int64_t step = 0;  // counted from 1
    StepSums sums{};
    observe::StepSeconds seconds{};  // mean over the pushes
  };
  std::vector<Step> done(const PushMessage& push, std::int64_t now_ns);
  // A histogram of staleness: the number of other workers' pushes between a worker's pull and its push, with its count.
  const std::map<std::int64_t, std::int64_t>& staleness() const { return staleness_; }

  std::int64_t from() const { return from_; }
  strategy::WorkerClocks& clocks() { return clocks_; }
  std::int64_t steps_done() const { return steps_done_; }
  // The worker asks for no more shares: after its last push the others do not wait for it any more.
  void leave(int worker);
  // After the loss of workers: `workers` are left, and all have dropped their shares, which are handed out again.
  void begin_again(int workers);

  std::int64_t to() const { return to_; }
  // The number of shares of a batch.
  int cut() const { return cut_; }

 private:
  Share share(std::int64_t number) const;
  std::int64_t shares() const { return (to_ - from_) * cut_; }

  int cut_, oars_;
  strategy::StalenessBound bound_;
  std::int64_t from_, to_;
  std::int64_t handed_ = 0;                      // number of shares handed out; they go out in order
  std::vector<std::vector<std::int64_t>> with_;  // per worker: shares that it has not pushed yet, in order
  std::vector<bool> is_finished_;                // per worker: it asks for no more shares
  std::vector<std::int64_t> again_;              // shares to hand out again after a loss of workers
  strategy::WorkerClocks clocks_;
  std::int64_t pushes_ = 0;
  std::vector<std::int64_t> pulled_at_;  // per worker: the value of pushes_ at its last pull
  std::map<std::int64_t, std::int64_t> staleness_;
  struct Partial {
    int shares = 0;
    Step sum;
  };
  std::map<std::int64_t, Partial> steps_;  // the steps that are not complete yet
  std::int64_t steps_done_ = 0;
};

}  // namespace trireme::train
