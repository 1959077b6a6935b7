// Coordinator: hands the shares of an asynchronous interval out, each once, to whoever asks; keeps the workers' clocks,
// how stale every push was, and what the pushes of one global batch add up to. A group of workers counts as one here.
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
    std::int64_t step = -1;  // none is left
    base::Range oars;
  };
  Share hand_out(int worker);
  // The one that a worker pushes next.
  Share in_hand(int worker) const;
  // No more are handed out.
  void stop() { to_ = from_ + (handed_ + cut_ - 1) / cut_; }

  // A push is done. The steps that are complete with it come out in order.
  struct Step {
    std::int64_t step = 0;  // counted from 1
    StepSums sums{};
    observe::StepSeconds seconds{};  // mean over the pushes
  };
  std::vector<Step> done(const PushMessage& push, std::int64_t now_ns);
  // How many pushes of others came between a worker's pull and its push: how often each number was seen.
  const std::map<std::int64_t, std::int64_t>& staleness() const { return staleness_; }

  std::int64_t from() const { return from_; }
  strategy::WorkerClocks& clocks() { return clocks_; }
  std::int64_t steps_done() const { return steps_done_; }
  // A worker asks for nothing more: after its last push nobody waits for it.
  void leave(int worker);
  // Some workers are gone, and the others, so many, have forgotten what they had: it is handed out again.
  void begin_again(int workers);

  std::int64_t to() const { return to_; }
  // So many shares a batch is cut into.
  int cut() const { return cut_; }

 private:
  Share share(std::int64_t number) const;
  std::int64_t shares() const { return (to_ - from_) * cut_; }

  int cut_, oars_;
  strategy::StalenessBound bound_;
  std::int64_t from_, to_;
  std::int64_t handed_ = 0;                      // shares, in order
  std::vector<std::vector<std::int64_t>> with_;  // per worker: shares that it has not pushed, in order
  std::vector<bool> is_finished_;                // per worker
  std::vector<std::int64_t> again_;              // shares of workers that are gone
  strategy::WorkerClocks clocks_;
  std::int64_t pushes_ = 0;
  std::vector<std::int64_t> pulled_at_;  // per worker: pushes of all at that time
  std::map<std::int64_t, std::int64_t> staleness_;
  struct Partial {
    int shares = 0;
    Step sum;
  };
  std::map<std::int64_t, Partial> steps_;  // not complete yet
  std::int64_t steps_done_ = 0;
};

}  // namespace trireme::train
