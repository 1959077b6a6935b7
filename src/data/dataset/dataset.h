// Dataset: the interface of all sources and stages. Sources hold or generate samples; stages (augment, normalize,
// resize, subset) wrap another dataset.
// Immutable after construction, so fetch() is thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/function_ref.h"
#include "data/dataset/image_options.h"
#include "tensor/shape.h"

namespace trireme::data {

// classes: a class index; labels: a 0/1 vector (several labels may hold at once); values: a real vector.
enum class TargetKind { classes, labels, values };
const char* target_name(TargetKind kind);                      // "classes", "labels", "values"
std::optional<TargetKind> target_kind(std::string_view name);  // the inverse of target_name()

struct TableSchema;

struct DataSpec {
  std::vector<tensor::Shape> inputs;  // per sample, without the batch: {3,32,32}; several for a multi-input network
  TargetKind target = TargetKind::classes;
  std::int64_t classes = 0;              // the number of classes, or the length of the target vector
  std::vector<std::string> class_names;  // in label order; empty when the source does not name them
  // The inputs are rows of a table: every value is a column with a scale of its own, not one of a channel's values.
  bool table = false;
  // Of a table whose columns have names, words or fills; null for all other data.
  std::shared_ptr<const TableSchema> schema{};
};

// Most inputs a sample may have; stages keep their pointers in arrays of this length.
inline constexpr std::size_t kMaxInputs = 16;

// Floats of one target: 1 for a class index, else the length of the vector.
std::int64_t target_floats(const DataSpec& spec);

// A short description for messages: "3x32x32 -> 10 classes".
std::string spec_text(const DataSpec& spec);

// Augmentation is a pure function of (seed, epoch, sample index).
struct AugmentationSeed {
  std::uint64_t seed = 0;
  std::uint64_t epoch = 0;
};

// How a source stores its values: whole numbers 0 ... 255, or float32.
enum class ValueType : std::uint8_t { byte, real };
inline std::size_t value_bytes(ValueType type) { return type == ValueType::byte ? 1 : sizeof(float); }

// One input of one sample as it is stored.
struct StoredValues {
  ValueType type = ValueType::byte;
  const std::byte* data = nullptr;
};

struct Columns;

class Dataset {
 public:
  virtual ~Dataset() = default;
  virtual const DataSpec& spec() const = 0;
  virtual std::int64_t size() const = 0;
  // Writes one sample, 0 <= index < size(): inputs[i] gets spec().inputs[i].count() floats (plain, row-major), target
  // gets target_floats(spec()) floats (a class index is one float).
  virtual void fetch(std::int64_t index, const AugmentationSeed& random, std::span<float* const> inputs,
                     float* target) const = 0;
  // The same without a copy, for samples that lie in memory: stages read these values, change and convert them in one
  // pass. Writes the target as fetch() does. False: not available, use fetch().
  virtual bool view(std::int64_t, std::span<StoredValues>, float*) const { return false; }
  // The file that a sample comes from, for people; empty where samples have no files of their own.
  virtual std::string origin(std::int64_t) const { return {}; }
  // All samples as tables (columns.h) if they are stored that way, else null.
  virtual const Columns* columns() const { return nullptr; }
};

using DatasetPtr = std::shared_ptr<const Dataset>;

// Calls `see` with every sample's target in order; skips reading the inputs if the samples lie in memory.
void each_target(const Dataset& dataset,
                 base::FunctionRef<void(std::int64_t index, std::span<const float> target)> see);

// Samples per class, or per label where several may hold; zeros for values. Class numbers that do not exist are left
// out; training reports them.
std::vector<std::int64_t> class_counts(const Dataset& dataset);

struct DataPair {
  DatasetPtr train, test;
  std::vector<std::string> notes{};  // sentences for the user: what was left out, how the test set was chosen
  // How the samples were read, if from files of images, also before they were packed; the size if none was asked for.
  std::optional<ImageOptions> images{};
  std::string dataset{};  // its name in the list of datasets, also of a packed file; empty for the user's own data
};

}  // namespace trireme::data
