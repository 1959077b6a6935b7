// Normalization: value -> (value - mean) / divisor. stages/normalize.h computes it from a training set.
#pragma once

#include <string>
#include <vector>

namespace trireme::data {

// One number per channel (the first size of the shape), or one per value (pixel, column of a table).
struct InputNormalization {
  std::vector<float> mean;
  std::vector<float> divisor;
};

struct Normalization {
  std::string kind = "none";
  std::vector<InputNormalization> inputs;  // one per input of a sample; empty for "none"
};

}  // namespace trireme::data
