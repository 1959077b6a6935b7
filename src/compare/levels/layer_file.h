// Reads the reference's layer inputs, outputs and gradients, and compares the results of single ops with them.
#pragma once

#include <limits>
#include <span>
#include <string>

#include "compare/levels/verdict.h"
#include "store/safetensors.h"

namespace trireme::compare {

constexpr double kUnit = std::numeric_limits<float>::epsilon() / 2;
constexpr double kAllowance = 6;  // the error of a sum of K values is below 6 sqrt(K) u, except once in 1e7

// The tensors of one layer of the reference.
class LayerFile {
 public:
  LayerFile(const store::SafetensorsFile& file, std::string name) : file_(file), name_(std::move(name)) {}
  // `what`: "input", "output", "diff_output", "diff_input" or "diff.<parameter>". Null if the file has none.
  const store::NamedTensor* find(const std::string& what) const { return file_.find(name_ + "." + what); }
  // A missing tensor is a run error.
  const store::NamedTensor& get(const std::string& what) const;

 private:
  const store::SafetensorsFile& file_;
  std::string name_;
};

double mean_square(const store::NamedTensor& tensor);

// Compares a result whose elements are sums of `length` values each. `least`: lower bound for the reference's mean
// square.
Difference compare_sums(const std::string& name, std::span<const float> ours, const store::NamedTensor& reference,
                        double length, double least = 0);

// The part of a batch tensor that belongs to the first oar.
std::span<const float> first_oar_of(const Feed& feed, const std::string& name);

}  // namespace trireme::compare
