// CheckpointStore: writes and reads the checkpoints of a run, each a folder that is either complete or absent.
// One process saves at a time; any process may read.
//
//   checkpoints/
//     step-00000123/
//       weights.safetensors     parameters and statistics, canonical form
//       optimizer.safetensors   "<slot>/<parameter>" for each slot of optimizer state, trained parameters only
//       state.json              {"format": 1, "step", "epoch", "position", "extra": {name: any JSON},
//                                "sha256": {"weights.safetensors": hex, "optimizer.safetensors": hex},
//                                "checksum": of all this (see json_checksum.h)}
//     best                      the name of the best checkpoint's folder, one line
//     .step-00000124.partial/   being written, replaced or removed; ignored, and cleaned away by the next save
//
// A folder is written under its partial name, synced and renamed.
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

// The progress of a run, without floats. `extra` holds JSON texts by name; their meaning is kept, their formatting is
// not.
struct SavedProgress {
  std::int64_t step = 0;      // updates made
  std::int64_t epoch = 0;     // whole epochs done
  std::int64_t position = 0;  // samples taken of the current epoch
  std::map<std::string, std::string> extra;
};

struct Checkpoint {
  SavedProgress progress;
  const tensor::ParameterSpace* space = nullptr;
  std::span<const float> weights;  // in live layout
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
  // Keeps the newest keep_last (at least 1) checkpoints and the best. The first save makes the folder.
  CheckpointStore(base::fs::path folder, int keep_last);

  // Writes a checkpoint (replacing one of the same step), marks it as the best if `best`, then removes old ones. A
  // failure is a run error; it leaves older checkpoints untouched and no half-written one.
  void save(const Checkpoint& checkpoint, bool best);

  [[nodiscard]] std::optional<base::fs::path> latest() const;
  [[nodiscard]] std::int64_t latest_step() const;  // -1: there is none
  [[nodiscard]] std::optional<base::fs::path> best() const;
  [[nodiscard]] std::optional<std::int64_t> best_step() const;
  // All complete folders, oldest first.
  [[nodiscard]] std::vector<base::fs::path> list() const;
  // The newest checkpoint that can be read and passes `check`; warns about each newer one that does not. `check` throws
  // a user error if it finds damage. Returns nothing if there are no checkpoints; a user error if all are damaged.
  using Check = std::function<void(const LoadedCheckpoint&)>;
  [[nodiscard]] std::optional<LoadedCheckpoint> latest_valid(const Check& check = nullptr) const;

  // Moves checkpoints of later steps away, because a run that continues from `step` writes them again.
  void drop_after(std::int64_t step) const;

  // Reads and verifies one checkpoint; a user error that names it if it is damaged. Without `with_optimizer`, reads the
  // weights only.
  [[nodiscard]] static LoadedCheckpoint load(const base::fs::path& folder, bool with_optimizer = true);

 private:
  void clean() const;
  void prune() const;

  base::fs::path folder_;
  int keep_last_;
};

// Copies a loaded checkpoint into buffers in live layout. The slots must be those it was saved with; otherwise a user
// error names the difference and nothing is changed.
struct SlotBuffer {
  std::string name;
  std::span<float> state;
};
void restore(const LoadedCheckpoint& loaded, const tensor::ParameterSpace& space, std::span<float> weights,
             std::span<const SlotBuffer> slots);

}  // namespace trireme::store
