// Converts one channel of one sample from its stored form to the network's input: move, mirror, rotate, brighten, cut
// out and normalize, with one conversion to float.
// Pure functions on the caller's memory; thread-safe.
#pragma once

#include <cstdint>

#include "data/stages/augment.h"

namespace trireme::data {

struct Plane {
  StoredValues src;  // height x width values
  std::int64_t height = 1, width = 0;
  float* dst = nullptr;
  float most = 255;  // brightness keeps values at or below it; infinity: no limit
  // value -> (value - mean) * factor: one number each, or one per value of the plane.
  const float *mean = nullptr, *factor = nullptr;
  bool per_value = false;
};

// The bits of the result do not depend on the instruction set.
void convert_plane(const Plane& plane, const Change& change);

}  // namespace trireme::data
