// RunControl: what somebody asks of a run while it runs, as the page does with --watch-control, and whether it rests.
// Thread-safe.
#pragma once

#include <atomic>

namespace trireme::train {

class RunControl {
 public:
  // Rest at the next synchronisation point, until go_on().
  void pause() { wants_pause_ = true; }
  void go_on() { wants_pause_ = false; }
  void write_checkpoint() { wants_checkpoint_ = true; }
  // Write a checkpoint and end, as Ctrl-C does.
  void stop() { wants_stop_ = true; }

  bool wants_pause() const { return wants_pause_; }
  bool wants_stop() const { return wants_stop_; }
  bool takes_wish_for_checkpoint() { return wants_checkpoint_.exchange(false); }

  // Told by the run.
  void set_resting(bool rests) { rests_ = rests; }
  bool rests() const { return rests_; }
  // The strategy averages its replicas where an interval ends, so that a pause would change the weights.
  void allow_only_stop() { only_stop_ = true; }
  bool allows_only_stop() const { return only_stop_; }

 private:
  std::atomic<bool> wants_pause_{false}, wants_checkpoint_{false}, wants_stop_{false}, rests_{false}, only_stop_{false};
};

}  // namespace trireme::train
