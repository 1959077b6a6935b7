// TargetScale: how targets of values are learnt: value -> (value - mean) / deviation. stages/target_scale.h computes it
// from a training set. A plain value; the functions are thread-safe.
#pragma once

#include <span>
#include <vector>

namespace trireme::data {

struct TargetScale {
  std::vector<double> mean, deviation;  // one per value of a target; empty: values are learnt as they are

  bool is_none() const { return mean.empty(); }
};

// Of any number of whole targets, one after another: the data's values as they are learnt, and back.
void standardise(const TargetScale& scale, std::span<float> targets);
void restore(const TargetScale& scale, std::span<float> outputs);

}  // namespace trireme::data
