// Checkpoints: everything a run needs to go on, in folders that are whole or not there.
//
//   checkpoints/
//     step-00000123/
//       weights.safetensors     parameters and statistics, canonical form
//       optimizer.safetensors   "<slot>/<parameter>" for each slot of optimizer state, trained parameters only
//       state.json              {"format": 1, "step", "epoch", "position", "extra": {name: any JSON},
//                                "sha256": {"weights.safetensors": hex, "optimizer.safetensors": hex},
//                                "checksum": of all this (see json_checksum.h)}
//     best                      the name of the best one's folder, one line
//     .step-00000124.partial/   being written, replaced or removed; ignored, and cleaned away by the next save
//
// A folder is written under its partial name, synced and renamed. One process saves; any may read.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/system/files.h"
#include "store/safetensors.h"
#include "tensor/parameter_space.h"

namespace trireme::store {

// What the training loop knows apart from floats. `extra` holds JSON texts by name, kept as they are in meaning.
struct SavedProgress {
  std::int64_t step = 0;      // updates made
  std::int64_t epoch = 0;     // whole epochs done
  std::int64_t position = 0;  // samples taken of the epoch under way
  std::map<std::string, std::string> extra;
};

struct Checkpoint {
  SavedProgress progress;
  const tensor::ParameterSpace* space = nullptr;
  std::span<const float> weights;  // live layout
  struct Slot {
    std::string name;
    std::span<const float> state;
  };
  std::vector<Slot> slots;
};

struct LoadedCheckpoint {
  base::fs::path folder;
  SavedProgress progress;
  SafetensorsFile weights;
  SafetensorsFile optimizer;
};

class CheckpointStore {
 public:
  // Keeps the newest keep_last checkpoints (at least 1) and the best. The folder is made by the first save.
  CheckpointStore(base::fs::path folder, int keep_last);

  // Writes a checkpoint (in place of one of the same step), notes it as the best if it is, then removes old ones. On
  // failure throws a run error; the older checkpoints are untouched and nothing half-written remains.
  void save(const Checkpoint& checkpoint, bool best);

  [[nodiscard]] std::optional<base::fs::path> latest() const;
  [[nodiscard]] std::optional<base::fs::path> best() const;
  // All whole folders, oldest first.
  [[nodiscard]] std::vector<base::fs::path> list() const;
  // The newest that can be read and passes the check, which throws a user error about what it finds damaged; with a
  // warning for each newer one. None if there are no checkpoints, and a user error if there are but all are damaged.
  using Check = std::function<void(const LoadedCheckpoint&)>;
  [[nodiscard]] std::optional<LoadedCheckpoint> latest_valid(const Check& check = nullptr) const;

  // Puts checkpoints of later steps out of the way: a run that goes on from an older one writes them again.
  void drop_after(std::int64_t step) const;

  // Reads and verifies one; a user error that names it when it is damaged. Without the optimizer's state when only the
  // weights are wanted.
  [[nodiscard]] static LoadedCheckpoint load(const base::fs::path& folder, bool with_optimizer = true);

 private:
  void clean() const;
  void prune() const;

  base::fs::path folder_;
  int keep_last_;
};

// Puts a loaded checkpoint into buffers in live layout. The slots must be those it was saved with; a user error names
// what differs, and then nothing was changed.
struct SlotBuffer {
  std::string name;
  std::span<float> state;
};
void restore(const LoadedCheckpoint& loaded, const tensor::ParameterSpace& space, std::span<float> weights,
             std::span<const SlotBuffer> slots);

}  // namespace trireme::store
