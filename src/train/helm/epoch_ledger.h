// EpochLedger: counts which samples of the training set the current epoch has used, over all workers.
// Runs in the helm's thread. It includes workers that were lost and the processes before a resume.
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

  // The sum over all workers.
  data::Ledger total() const;
  // Continues an epoch from the ledger of a checkpoint.
  void restore(data::Ledger before) { before_ = std::move(before); }
  // Call before ordering an interval. True when an epoch begins with it: then the workers clear their own ledgers.
  bool begin_interval(int workers);
  // Call when all workers have been sent that order.
  void interval_ordered() { is_new_ = false; }
  // Sets a worker's own ledger (as text): what it has used since the epoch began in this process.
  void set_worker(int worker, const std::string& text);
  // Notes a share that a worker has pushed.
  void add_push(int worker, const Coordinator::Share& share);
  // Removes a lost worker; the numbers of those after it decrease by one. Its samples are taken from its pushes.
  void lose(int worker);
  void end_epoch();

 private:
  const Experiment& experiment_;
  data::Ledger before_;                                  // of earlier processes and of lost workers
  std::vector<std::optional<data::Ledger>> workers_;     // per worker
  std::vector<std::vector<Coordinator::Share>> pushed_;  // per worker
  bool is_new_ = true;                                   // the epoch begins with the next interval
};

}  // namespace trireme::train
