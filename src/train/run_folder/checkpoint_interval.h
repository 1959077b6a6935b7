// CheckpointInterval: when a run writes checkpoints, besides at its end and on an interrupt (--checkpoint-every).
// Thread-safe.
#pragma once

#include <cstdint>
#include <string>

namespace trireme::train {

// At most one of the numbers is not 0. All 0: after each epoch.
struct CheckpointInterval {
  std::int64_t steps = 0;   // after each epoch and every so many steps
  std::int64_t epochs = 0;  // after every so many epochs, and when one is the best
  double seconds = 0;       // after each epoch, and when the last checkpoint is so old
};

// "500" and "500steps", "2epochs", "30s", "10min", "1h"; a number 0 means none. A user error calls the option `label`.
CheckpointInterval parse_checkpoint_interval(const std::string& label, const std::string& text);

}  // namespace trireme::train
