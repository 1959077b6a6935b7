// What the reference tells of its layers, and how results of single ops are compared with it.
#pragma once

#include <limits>
#include <span>
#include <string>

#include "compare/levels/verdict.h"
#include "store/safetensors.h"

namespace trireme::compare {

constexpr double kUnit = std::numeric_limits<float>::epsilon() / 2;
constexpr double kAllowance = 6;  // a sum of K values is off by less than 6 sqrt(K) u, except once in 1e7

// One layer of the reference.
class LayerFile {
 public:
  LayerFile(const store::SafetensorsFile& file, std::string name) : file_(file), name_(std::move(name)) {}
  // "input", "output", "diff_output", "diff_input", "diff.<parameter>"; null where it has none.
  const store::NamedTensor* find(const std::string& what) const { return file_.find(name_ + "." + what); }
  // A run error where it has none.
  const store::NamedTensor& get(const std::string& what) const;

 private:
  const store::SafetensorsFile& file_;
  std::string name_;
};

double mean_square(const store::NamedTensor& tensor);

// Of a result whose elements are sums of `length` values each. `least`: the mean square that the reference is taken to
// have at least.
Difference compare_sums(const std::string& name, std::span<const float> ours, const store::NamedTensor& reference,
                        double length, double least = 0);

// The first oar's samples of a tensor of the batch.
std::span<const float> first_oar_of(const Feed& feed, const std::string& name);

}  // namespace trireme::compare
