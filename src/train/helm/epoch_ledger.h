// EpochLedger: what the epoch under way has used of the training set, over all workers, lost ones and processes before
// a resume included. One thread.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "data/sampling/ledger.h"
#include "train/experiment/experiment.h"
#include "train/helm/coordinator.h"

namespace trireme::train {

class EpochLedger {
 public:
  explicit EpochLedger(const Experiment& experiment);

  // Of all workers.
  data::Ledger total() const;
  // The epoch goes on from what a process before this one used.
  void restore(data::Ledger before) { before_ = std::move(before); }
  // Before the order for an interval of so many workers. True when an epoch begins with it: then workers clear theirs.
  bool begin_interval(int workers);
  // All workers were given that order.
  void interval_ordered() { is_new_ = false; }
  // What a worker has used since the epoch began in this process, as text.
  void set_worker(int worker, const std::string& text);
  // A share that a worker has pushed.
  void add_push(int worker, const Coordinator::Share& share);
  // A worker is gone, and those behind it count one less. What it used is known from what it pushed.
  void lose(int worker);
  void end_epoch();

 private:
  const Experiment& experiment_;
  data::Ledger before_;                                  // this process, and workers that are lost
  std::vector<std::optional<data::Ledger>> workers_;     // of each
  std::vector<std::vector<Coordinator::Share>> pushed_;  // by each
  bool is_new_ = true;                                   // the epoch begins with the next interval
};

}  // namespace trireme::train
