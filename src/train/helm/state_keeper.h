// StateKeeper: the state of a run: weights and statistics, optimizer slots, progress, the epoch's ledger and early
// stopping. It knows who holds the floats (workers or servers), collects and spreads them, and writes and reads
// checkpoints; resume, hand-overs and whoever else needs the state of a run go through it. Used by the helm's thread.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "optim/early_stopping.h"
#include "store/checkpoint.h"
#include "strategy/common/role_map.h"
#include "strategy/common/updater.h"
#include "strategy/registry/config.h"
#include "train/experiment/experiment.h"
#include "train/helm/epoch_ledger.h"
#include "train/helm/helm_mailbox.h"
#include "train/results/training_progress.h"

namespace trireme::train {

// The replica of a worker that lives in the helm's process.
struct LocalReplica {
  crew::Crew* crew = nullptr;
  strategy::Updater* updater = nullptr;
};

class StateKeeper {
 public:
  struct Context {
    HelmMailbox& helm_mailbox;
    const strategy::RoleMap& roles;  // looked at in every call: it changes when workers are lost
    const Experiment& experiment;
    const tensor::ParameterSpace& space;
    std::shared_ptr<const optim::Optimizer> optimizer;
    LocalReplica local;         // of worker 0, where it is here
    std::int64_t patience = 0;  // of early stopping, in epochs; 0: none
  };
  explicit StateKeeper(Context context);
  StateKeeper(const StateKeeper&) = delete;
  StateKeeper& operator=(const StateKeeper&) = delete;

  // Weights (with statistics) and slots of optimizer state, in live layout.
  struct Floats {
    std::span<float> weights;
    std::vector<std::span<float>> slots;
  };
  // Memory of this process for them: worker 0's own where it is here.
  Floats memory();
  // The newest, in that memory, from whoever holds them. Between intervals.
  Floats collect();
  // From that memory to all workers.
  void spread(const Floats& floats, bool with_optimizer);
  // Moves them to where the strategy of a phase wants them; without keeps_state the optimizer's state is cleared. Only
  // the orders: the floats move while this returns.
  void hand_over(std::size_t phase, strategy::StateOwner to, bool keeps_state);
  // Waits until all workers have carried out the orders before.
  void wait_for_workers();
  strategy::StateOwner owner() const { return owner_; }

  const TrainingProgress& progress() const { return progress_; }
  EpochLedger& ledger() { return ledger_; }
  bool has_accuracy() const;
  bool stopped_early() const { return stopped_early_; }
  bool is_over() const { return progress_.step >= context_.experiment.total_steps || stopped_early_; }
  double epoch_loss() const { return progress_.epoch_loss / static_cast<double>(progress_.epoch_samples); }
  double epoch_accuracy() const;  // NaN where there is none

  // A step is done, counted from 1.
  void add_step(std::int64_t step, const StepSums& sums);
  // An epoch, or the last steps of a run that ends within one, was evaluated: the means over its steps are taken and
  // early stopping decides. Returns whether the result is the best so far.
  [[nodiscard]] bool add_result(double loss, double accuracy, bool is_whole_epoch);
  void begin_epoch();

  // A user error that names the checkpoint when something in it is damaged.
  void check(const store::LoadedCheckpoint& loaded) const;
  // Takes everything from a checkpoint, and gives the workers theirs.
  void restore(const store::LoadedCheckpoint& loaded);
  // `floats`: what collect() gave; `seconds`: that the run took so far.
  void save(store::CheckpointStore& checkpoints, const Floats& floats, bool is_best, double seconds);

 private:
  strategy::StateMap receive_pieces(int process, const Floats& floats);
  data::Ledger ledger_of(const store::LoadedCheckpoint& loaded) const;

  Context context_;
  std::vector<std::vector<float>> own_memory_;  // weights and slots, where no worker is here
  strategy::StateOwner owner_ = strategy::StateOwner::workers;
  TrainingProgress progress_;
  EpochLedger ledger_;
  optim::EarlyStopping early_stopping_;
  bool stopped_early_ = false;
};

}  // namespace trireme::train
