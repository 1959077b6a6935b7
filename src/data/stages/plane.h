// One channel of one sample from how it is stored to what a network reads: moved, mirrored, turned, brightened, blacked
// out and normalised, in one pass and one conversion to float. Pure functions on the caller's memory; any thread.
#pragma once

#include <cstdint>

#include "data/stages/augment.h"

namespace trireme::data {

struct Plane {
  StoredValues src;  // height x width values
  std::int64_t height = 1, width = 0;
  float* dst = nullptr;
  // value -> (value - mean) * factor: one number each, or one per value of the plane.
  const float *mean = nullptr, *factor = nullptr;
  bool per_value = false;
};

// Bits do not depend on the instruction set.
void convert_plane(const Plane& plane, const Change& change);

}  // namespace trireme::data
