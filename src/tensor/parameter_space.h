// ParameterSpace: maps all parameters (then all statistics) of a network to named ranges of one flat float32 buffer.
// Immutable after construction, so safe from any thread.
//
// It holds no values: weights, gradients and optimizer state are buffers of floats() elements that share this map.
// Ranges lie in reverse order of definition, the order in which backward finishes them. They start on 64 bytes and hold
// the parameter in the layout its kernels want; padding is zero. The canonical form of a parameter is plain row-major.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/oar_tree.h"
#include "tensor/layout.h"

namespace trireme::tensor {

// Trained parameters are updated from gradients; statistics (batch norm's running mean and variance) are running
// averages.
enum class ParameterKind { trained, statistic };

struct ParameterRange {
  std::string name;
  ParameterKind kind = ParameterKind::trained;
  // Canonical. The layout's shape has as many elements in the same plain order (grouped weights add a size).
  Shape shape;
  Layout layout;
  std::int64_t offset = 0;  // in floats, a multiple of 16
  std::int64_t floats() const { return layout.elements(); }
  std::int64_t count() const { return shape.count(); }  // canonical elements
};

class ParameterSpace {
 public:
  ParameterSpace() = default;
  struct Entry {
    std::string name;
    ParameterKind kind = ParameterKind::trained;
    Shape shape;
    Layout layout;
  };
  // `defined` in order of definition; index i of every other call is the index in this list.
  explicit ParameterSpace(const std::vector<Entry>& defined);

  std::int64_t floats() const { return floats_; }
  // All trained parameters lie in [0, trained_floats()), the statistics behind them.
  std::int64_t trained_floats() const { return trained_floats_; }
  int size() const { return static_cast<int>(ranges_.size()); }
  const ParameterRange& range(int defined_index) const { return ranges_[static_cast<std::size_t>(defined_index)]; }
  std::span<const ParameterRange> ranges() const { return ranges_; }
  // Indices of ranges in memory order.
  std::span<const int> memory_order() const { return memory_order_; }
  // The index of the parameter of this name, or -1.
  int find(const std::string& name) const;

  // SHA-256 over names, shapes and canonical values of all parameters and statistics, in order of definition.
  std::string sha256(const float* buffer) const;

 private:
  std::vector<ParameterRange> ranges_;  // in order of definition
  std::vector<int> memory_order_;
  std::int64_t floats_ = 0;
  std::int64_t trained_floats_ = 0;
};

}  // namespace trireme::tensor
