// The passes of the Winograd convolution F(4x4, 3x3), one set per instruction set, and the memory they work on.
//
// An output of 4 x 4 comes from an input tile of 6 x 6 by products in 36 points instead of 144. With V = B^T d B (input
// tile), U = G g G^T (filter) and M = sum over channels of V . U, the output tile is A^T M A. Gradients are the adjoint
// of that with the same matrices: D = A dY A^T; dX += B (sum over k of D . U) B^T; dW = G^T (sum over tiles of V . D)
// G. B and A are of the points 0, 1, -1, 2, -2 and infinity: their entries are sums of few powers of two, so that only
// the sums round.
//
// Sums over channels and over tiles go one after the other with fma, transforms are element-wise over channels, and
// tiles are taken in order: bits depend neither on the instruction set nor on the blocking. Pure functions on the
// caller's memory; any thread.
#pragma once

#include <cstdint>

#include "base/cpu/simd.h"

namespace trireme::ops::winograd {

inline constexpr int kTile = 6;  // input tile
inline constexpr int kStep = 4;  // output tile, and the distance of input tiles
inline constexpr int kPoints = 36;
inline constexpr int kTaps = 9;

// Activations lie as [samples][channels / block][height][width][block]; channels are multiples of the block.
struct Maps {
  std::int64_t samples = 0;
  std::int64_t height = 0, width = 0;          // of src
  std::int64_t out_height = 0, out_width = 0;  // of dst
  std::int64_t pad_top = 0, pad_left = 0;
  std::int64_t tile_rows = 0, tile_columns = 0;  // per sample
  std::int64_t tiles() const { return samples * tile_rows * tile_columns; }
};

// A run of tiles, in the order sample, row, column.
struct TileRange {
  std::int64_t first = 0, count = 0;
};

// Blocks of channels.
struct BlockRange {
  std::int64_t first = 0, count = 0;
};

// Transformed tiles as [point][channels / block][tile][block]: `plane` and `block` are the distances of the outer two.
struct TilePlanes {
  float* data = nullptr;
  std::int64_t plane = 0, block = 0;
};

// Transformed filters as [point][pair of blocks of lanes][channel of the sum][lanes]; the last pair may be single.
struct FilterPlanes {
  float* data = nullptr;
  std::int64_t plane = 0;
  std::int64_t sum_channels = 0;
};

// Where the filters lie: element (o, i, tap) at out[o] + in[i] + tap[t].
struct FilterPlaces {
  const std::int64_t* out = nullptr;
  const std::int64_t* in = nullptr;
  const std::int64_t* tap = nullptr;
  // o in a block are neighbours, and the i of a block as well as the taps are evenly spaced.
  bool blocked = false;
};

struct Passes {
  std::int64_t block = 0;
  // V of src. `all_blocks` is channels / block of the activations; `blocks` of them are made, from planes' block 0 on.
  void (*transform_src)(const Maps&, const float* src, std::int64_t all_blocks, TileRange, BlockRange blocks,
                        TilePlanes v);
  // dst from M; bias (of the first of `blocks`) may be null.
  void (*make_dst)(const Maps&, TilePlanes m, TileRange, BlockRange blocks, std::int64_t all_blocks, const float* bias,
                   bool relu, float* dst);
  // Sets the outputs of these tiles whose receptive field is 0 in all of src's channels to the bias, for all blocks.
  void (*set_zero_fields)(const Maps&, const float* src, std::int64_t in_blocks, TileRange, std::int64_t out_blocks,
                          const float* bias, bool relu, float* dst);
  // D of diff_dst, which counts as 0 where `dst` is given and not positive. Adds its sums to diff_bias unless null.
  void (*transform_diff_dst)(const Maps&, const float* diff_dst, const float* dst, std::int64_t all_blocks, TileRange,
                             BlockRange blocks, TilePlanes d, float* diff_bias);
  // Adds B dV B^T into diff_src; what no earlier tile has reached is overwritten. Tiles must come in order.
  void (*make_diff_src)(const Maps&, TilePlanes dv, TileRange, BlockRange blocks, std::int64_t all_blocks,
                        float* diff_src);
  // U with lanes over output channels and sums over input channels, or the other way round when `adjoint`.
  void (*transform_filters)(const float* weights, const FilterPlaces&, BlockRange out, BlockRange in, bool adjoint,
                            FilterPlanes u);
  // diff_weights of those blocks from dU, which lies as U (lanes over output channels) relative to their first.
  void (*make_diff_weights)(FilterPlanes du, const FilterPlaces&, BlockRange out, BlockRange in, float* diff_weights);
  // One point: m (+)= sum over `sum_blocks` blocks of a . u, for `lane_blocks` blocks of lanes and `tiles` tiles;
  // `first` overwrites.
  void (*multiply)(const float* a, std::int64_t a_block, const float* u, std::int64_t sum_blocks, float* m,
                   std::int64_t m_block, std::int64_t lane_blocks, std::int64_t tiles, bool first);
  // One point: du (+)= sum over tiles of v . d; `first` overwrites.
  void (*multiply_tiles)(const float* v, std::int64_t v_block, std::int64_t v_blocks, const float* d,
                         std::int64_t d_block, std::int64_t d_blocks, float* du, std::int64_t tiles, bool first);
};

const Passes& passes(base::Isa isa);

// The sets by themselves: each may run only on a CPU that has it.
extern const Passes kGenericPasses, kAvx2Passes, kAvx512Passes;

}  // namespace trireme::ops::winograd
