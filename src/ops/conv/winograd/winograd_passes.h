// The passes of the Winograd convolution F(4x4, 3x3), one set per instruction set, and the memory they work on.
// Pure functions on the caller's memory; thread-safe.
//
// An output tile of 4 x 4 comes from an input tile of 6 x 6 with 36 products (points) instead of 144. With V = B^T d B
// (input tile), U = G g G^T (filter) and M = sum over channels of V . U, the output tile is A^T M A. Gradients are the
// adjoint with the same matrices:
//   D = A dY A^T;  dX += B (sum over k of D . U) B^T;  dW = G^T (sum over tiles of V . D) G
// The matrices and their points are in winograd_lines.h.
//
// Sums over channels and over tiles are chains of fma, transforms are element-wise over channels, and tiles are
// processed in order, so the bits depend neither on the instruction set nor on the blocking.
#pragma once

#include <cstdint>

#include "base/cpu/simd.h"

namespace trireme::ops::winograd {

inline constexpr int kTile = 6;  // the size of an input tile
inline constexpr int kStep = 4;  // the size of an output tile, and the distance between input tiles
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

// A range of tiles, in the order sample, row, column.
struct TileRange {
  std::int64_t first = 0, count = 0;
};

// Blocks of channels.
struct BlockRange {
  std::int64_t first = 0, count = 0;
};

// Transformed tiles as [point][channels / block][tile][block]; `plane` and `block` are the strides of the outer two.
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

// The memory layout of the filters: element (o, i, t) at out[o] + in[i] + tap[t].
struct FilterPlaces {
  const std::int64_t* out = nullptr;
  const std::int64_t* in = nullptr;
  const std::int64_t* tap = nullptr;
  // The o of a block are adjacent; the i of a block and the taps are evenly spaced.
  bool blocked = false;
};

struct Passes {
  std::int64_t block = 0;
  // V of `blocks`, written from block 0 of the planes on. `all_blocks`: channels / block of the activations.
  void (*transform_src)(const Maps&, const float* src, std::int64_t all_blocks, TileRange, BlockRange blocks,
                        TilePlanes v);
  // dst from M. `bias` begins with the first of `blocks`; it may be null.
  void (*make_dst)(const Maps&, TilePlanes m, TileRange, BlockRange blocks, std::int64_t all_blocks, const float* bias,
                   bool relu, float* dst);
  // Sets the outputs of these tiles whose receptive field is 0 in all of src's channels to the bias, for all blocks.
  void (*set_zero_fields)(const Maps&, const float* src, std::int64_t in_blocks, TileRange, std::int64_t out_blocks,
                          const float* bias, bool relu, float* dst);
  // D of diff_dst, which counts as 0 where `dst` is given and not positive. Adds the sums of diff_dst to diff_bias
  // unless it is null.
  void (*transform_diff_dst)(const Maps&, const float* diff_dst, const float* dst, std::int64_t all_blocks, TileRange,
                             BlockRange blocks, TilePlanes d, float* diff_bias);
  // Adds B dV B^T to diff_src, and overwrites what no earlier tile has written. REQUIRES: tiles in ascending order.
  void (*make_diff_src)(const Maps&, TilePlanes dv, TileRange, BlockRange blocks, std::int64_t all_blocks,
                        float* diff_src);
  // U with lanes over output channels and sums over input channels, or the other way round when `adjoint`.
  void (*transform_filters)(const float* weights, const FilterPlaces&, BlockRange out, BlockRange in, bool adjoint,
                            FilterPlanes u);
  // diff_weights of these blocks from dU, which has the layout of U (lanes over output channels) and begins with their
  // first.
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

// The single sets. REQUIRES: a CPU with that instruction set.
extern const Passes kGenericPasses, kAvx2Passes, kAvx512Passes;

}  // namespace trireme::ops::winograd
