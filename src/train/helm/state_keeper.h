// StateKeeper: the state of a run: weights and statistics, optimizer slots, progress, ledger and early stopping.
// Runs in the helm's thread.
//
// It knows whether workers or servers hold the floats, collects and distributes them, and saves and restores
// checkpoints. Resume, hand-overs and everything else that needs the state of a run use it.
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
#include "train/results/layer_statistics.h"
#include "train/results/training_progress.h"

namespace trireme::train {

// The replica of worker 0 if it is in the helm's process; null pointers otherwise.
struct LocalReplica {
  crew::Crew* crew = nullptr;
  strategy::Updater* updater = nullptr;
};

class StateKeeper {
 public:
  struct Context {
    HelmMailbox& helm_mailbox;
    const strategy::RoleMap& roles;  // read in every call, because it changes when workers are lost
    const Experiment& experiment;
    const tensor::ParameterSpace& space;
    std::shared_ptr<const optim::Optimizer> optimizer;
    LocalReplica local;         // of worker 0, if it is in this process
    std::int64_t patience = 0;  // of early stopping, in epochs; 0: no early stopping
  };
  explicit StateKeeper(Context context);
  StateKeeper(const StateKeeper&) = delete;
  StateKeeper& operator=(const StateKeeper&) = delete;

  // Weights (with statistics) and slots of optimizer state, in the layout of the running program.
  struct Floats {
    std::span<float> weights;
    std::vector<std::span<float>> slots;
  };
  // Memory of this process for the floats: that of worker 0 if it is in this process.
  Floats memory();
  // Collects the newest floats from their owners into memory(). REQUIRES: between intervals.
  Floats collect();
  // Collects the updates of the watched step from those who made them. REQUIRES: between intervals.
  StepUpdates collect_updates();
  // Sends the floats to all workers.
  void spread(const Floats& floats, bool with_optimizer);
  // Orders the move of the floats to the state owner of a phase's strategy; without keeps_state the optimizer's state
  // is cleared. Returns before the floats have moved.
  void hand_over(std::size_t phase, strategy::StateOwner to, bool keeps_state);
  // Waits until all workers have carried out all earlier orders.
  void wait_for_workers();
  strategy::StateOwner owner() const { return owner_; }

  const TrainingProgress& progress() const { return progress_; }
  EpochLedger& ledger() { return ledger_; }
  bool has_accuracy() const;
  bool stopped_early() const { return stopped_early_; }
  bool is_over() const { return progress_.step >= context_.experiment.total_steps || stopped_early_; }
  double epoch_loss() const { return progress_.epoch_loss / static_cast<double>(progress_.epoch_samples); }
  double epoch_accuracy() const;  // NaN when the targets are real values

  // Takes a completed step; steps count from 1.
  void add_step(std::int64_t step, const StepSums& sums);
  // Takes the evaluation after an epoch, or after the last steps of a run that ends within an epoch: stores the means
  // over the epoch's steps and updates early stopping. Returns whether the result is the best so far, if the run
  // chooses a best at all.
  [[nodiscard]] bool add_result(double loss, double accuracy, bool is_whole_epoch);
  void begin_epoch();

  // Throws a user error that names the checkpoint when something in it is damaged.
  void check(const store::LoadedCheckpoint& loaded) const;
  // Restores the whole state from a checkpoint and sends the workers weights and optimizer state.
  void restore(const store::LoadedCheckpoint& loaded);
  // `floats`: the result of collect(); `seconds`: duration of the run so far.
  void save(store::CheckpointStore& checkpoints, const Floats& floats, bool is_best, double seconds);

 private:
  strategy::StateMap receive_pieces(int process, const Floats& floats);
  data::Ledger ledger_of(const store::LoadedCheckpoint& loaded) const;

  Context context_;
  std::vector<std::vector<float>> own_memory_;  // weights and slots, if worker 0 is in another process
  strategy::StateOwner owner_ = strategy::StateOwner::workers;
  TrainingProgress progress_;
  EpochLedger ledger_;
  optim::EarlyStopping early_stopping_;
  bool stopped_early_ = false;
};

}  // namespace trireme::train
