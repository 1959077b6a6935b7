// Dataset: what every source and every stage is. Sources hold or make samples; stages (augment, normalize, resize,
// subset) wrap another dataset. Immutable after construction, so fetch() is safe from any thread.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "tensor/shape.h"

namespace trireme::data {

// A class index; a 0/1 vector (several labels may hold at once); a real vector.
enum class TargetKind { classes, labels, values };

struct DataSpec {
  std::vector<tensor::Shape> inputs;  // per sample, without the batch: {3,32,32}; several for a multi-input network
  TargetKind target = TargetKind::classes;
  std::int64_t classes = 0;              // the number of classes, or the length of the target vector
  std::vector<std::string> class_names;  // in label order; empty when the source does not name them
};

// How many inputs a sample may have; stages keep their pointers in arrays of this length.
inline constexpr std::size_t kMaxInputs = 16;

// Floats of one target: 1 for a class index, else the length of the vector.
std::int64_t target_floats(const DataSpec& spec);

// A short description for messages: "3x32x32 -> 10 classes".
std::string spec_text(const DataSpec& spec);

// Augmentation is a pure function of (seed, epoch, sample index).
struct Draw {
  std::uint64_t seed = 0;
  std::uint64_t epoch = 0;
};

class Dataset {
 public:
  virtual ~Dataset() = default;
  virtual const DataSpec& spec() const = 0;
  virtual std::int64_t size() const = 0;
  // Writes one sample, 0 <= index < size(): inputs[i] gets spec().inputs[i].count() floats (plain, row-major), target
  // gets target_floats(spec()) floats (a class index is one float).
  virtual void fetch(std::int64_t index, const Draw& draw, std::span<float* const> inputs, float* target) const = 0;
};

using DatasetPtr = std::shared_ptr<const Dataset>;

struct DataPair {
  DatasetPtr train, test;
};

}  // namespace trireme::data
