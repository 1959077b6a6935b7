// set_of<S>(): the passes for one instruction set. Each instruction set's file includes this header after its target
// pragma and defines a struct S in an unnamed namespace, so that the linker never merges code of two files:
//
//   kWidth          channels per vector, the block of the activations
//   Vector          with +, - and *
//   kTileRows       tiles, and kChannelRows channels, that fill the registers as strips of two vectors
//   load, store     aligned to the vector
//   splat, fma      fma rounds once
//   positive_part   0 where x is below 0, else x
//   where_positive  x where sign is above 0, else 0
//   has_nonzero     whether a channel is neither 0 nor -0
//   transpose       from[i * step + j] of kWidth x kWidth to to[j * kWidth + i]
#pragma once

#include "ops/conv/winograd/winograd_filters.h"
#include "ops/conv/winograd/winograd_lines.h"
#include "ops/conv/winograd/winograd_passes.h"
#include "ops/conv/winograd/winograd_products.h"
#include "ops/conv/winograd/winograd_tiles.h"
#include "ops/conv/winograd/winograd_zeros.h"

namespace trireme::ops::winograd {

template <class S>
constexpr Passes set_of() {
  return {.block = S::kWidth,
          .transform_src = Tiles<S>::transform_src,
          .make_dst = Tiles<S>::make_dst,
          .set_zero_fields = ZeroFields<S>::set_zero_fields,
          .transform_diff_dst = Tiles<S>::transform_diff_dst,
          .make_diff_src = Tiles<S>::make_diff_src,
          .transform_filters = Filters<S>::transform_filters,
          .make_diff_weights = Filters<S>::make_diff_weights,
          .multiply = Products<S>::multiply,
          .multiply_tiles = Products<S>::multiply_tiles};
}

}  // namespace trireme::ops::winograd
