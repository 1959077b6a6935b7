// ZeroFields: finds outputs whose whole receptive field is 0 and sets them to the bias (see
// ops/conv/geometry/zero_field.h). Included like toom_cook_lines.h.
#pragma once

#include <algorithm>

#include "ops/conv/geometry/zero_field.h"
#include "ops/conv/toom_cook/toom_cook_passes.h"

namespace trireme::ops::toom_cook {

template <class S>
struct ZeroFields {
  static constexpr std::int64_t kBlock = S::kWidth;

  // The field of output o begins at position o - padding. Every field contains exactly one of the positions that are
  // `taps` apart, so it is enough to test these, and to extend the run of zeros around each that is 0.
  static void set_zero_fields(const Line& line, const Filters& filters, const float* src, TileRange range,
                              const float* bias, bool relu, float* dst) {
    const std::int64_t first = kStep * range.first, taps = filters.taps;
    const std::int64_t end = std::min(first + kStep * range.count, line.out_width);
    const auto zero = [&](std::int64_t place) __attribute__((always_inline)) {
      return place < 0 || place >= line.width ||
             ZeroField<S>::zero(src + place * kBlock, line.width * kBlock, filters.in_blocks);
    };
    const std::int64_t past = end - line.padding + taps - 1;  // the end of these outputs' fields
    for (std::int64_t place = first - line.padding + taps - 1; place < past; place += taps) {
      if (!zero(place)) continue;
      std::int64_t from = place, to = place + 1;
      while (place - from < taps - 1 && zero(from - 1)) --from;
      while (to < past && zero(to)) ++to;
      for (std::int64_t o = std::max(first, from + line.padding); o <= to - taps + line.padding; ++o)
        ZeroField<S>::set_output(dst + o * kBlock, line.out_width * kBlock, filters.out_blocks, bias, relu);
      place = to;  // not 0, so no field that contains it is a zero field
    }
  }
};

}  // namespace trireme::ops::toom_cook
