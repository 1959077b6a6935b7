// TrainingProgress: how far a run has come.
// A plain value. Every checkpoint contains it, so that a resumed run reports and decides like an uninterrupted one.
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
  std::int64_t position = 0;  // samples of the current epoch that were used

  // Sums over the current epoch.
  double epoch_loss = 0, epoch_correct = 0;
  std::int64_t epoch_samples = 0;

  // Means over the last epoch that was evaluated.
  double train_loss = kUnknown, train_accuracy = kUnknown;

  optim::EarlyStopping::State early_stopping;
  double best_loss = kUnknown;   // of the best result, on a validation set
  std::int64_t total_steps = 0;  // the planned length of the run
  double seconds = 0;            // spent so far, by all processes

  store::SavedProgress to_store() const;
  // Throws a user error that names the checkpoint when it lacks something.
  static TrainingProgress from_checkpoint(const store::LoadedCheckpoint& loaded);
};

}  // namespace trireme::train
