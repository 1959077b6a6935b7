// TrainingProgress: how far a run has come. It goes into every checkpoint, so that a resumed run reports and decides as
// an unbroken one would.
#pragma once

#include <cstdint>
#include <limits>
#include <string>

#include "optim/early_stopping.h"
#include "store/checkpoint.h"

namespace trireme::train {

inline constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();

struct TrainingProgress {
  std::int64_t step = 0;      // updates made
  std::int64_t epoch = 0;     // whole epochs done
  std::int64_t position = 0;  // samples taken of the epoch under way

  // Sums over the epoch under way.
  double epoch_loss = 0, epoch_correct = 0;
  std::int64_t epoch_samples = 0;

  // Of the last epoch that was evaluated.
  double train_loss = kUnknown, train_accuracy = kUnknown;

  optim::EarlyStopping::State early_stopping;
  std::int64_t total_steps = 0;  // that the run was meant to have
  double seconds = 0;            // spent so far, by all processes

  store::SavedProgress to_store() const;
  // A user error that names the checkpoint when it lacks something.
  static TrainingProgress from_checkpoint(const store::LoadedCheckpoint& loaded);
};

}  // namespace trireme::train
