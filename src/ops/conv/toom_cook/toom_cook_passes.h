// The passes of the Toom-Cook convolution F(4, 4) over one spatial size, one set per instruction set, and the memory
// they work on. Pure functions on the caller's memory; thread-safe.
//
// A segment of four taps computes four outputs from an input tile of 7 with 7 products (points) instead of 16.
// With V = B^T d (input tile), U = G g (segment) and M = sum over channels of V . U, the outputs are A^T M.
// A longer kernel has several segments. Tiles and segments are both four apart, so segment s of output tile t reads V
// of input tile t + s, and M also sums over segments. Gradients are the adjoint with the same matrices:
//   D = A dY;  dX += B (sum over segments and k of D(t - s) . U);  dW = G^T (sum over tiles of V(t + s) . D(t))
//
// Sums are chains of fma: over pairs of segments, channels and the segments of the pair, or over tiles. Transforms are
// element-wise over channels, and tiles are processed in order, so the bits depend neither on the instruction set nor
// on the blocking.
#pragma once

#include <cstdint>

#include "base/cpu/simd.h"

namespace trireme::ops::toom_cook {

inline constexpr int kStep = 4;    // outputs of a tile, taps of a segment, and the distance of tiles and of segments
inline constexpr int kPoints = 7;  // also the size of an input tile

// One sample lies as [channels / block][width][block]; channels are multiples of the block.
struct Line {
  std::int64_t width = 0, out_width = 0;
  std::int64_t padding = 0;
  std::int64_t segments = 0;

  std::int64_t out_tiles() const { return (out_width + kStep - 1) / kStep; }
  std::int64_t in_tiles() const { return out_tiles() + segments - 1; }
};

struct TileRange {
  std::int64_t first = 0, count = 0;
};

// Transformed tiles of a range as [point][channels / block][tile][block]; `plane` and `block` are the strides of the
// outer two.
struct TilePlanes {
  float* data = nullptr;
  std::int64_t plane = 0, block = 0;
};

// Filters lie as [o / block][i / block][tap][i % block][o % block].
struct Filters {
  std::int64_t out_blocks = 0, in_blocks = 0, taps = 0;
};

// Transformed filters as [point][block of lanes][pair of segments][channel of the sum][segment of the pair][lane]; the
// last pair may be single. `plane` is the stride of the points.
struct FilterPlanes {
  float* data = nullptr;
  std::int64_t plane = 0;
};

struct Passes {
  std::int64_t block = 0;
  // V of one sample's input tiles.
  void (*transform_src)(const Line&, const float* src, TileRange, std::int64_t blocks, TilePlanes v);
  // dst from M; bias may be null.
  void (*make_dst)(const Line&, TilePlanes m, TileRange, std::int64_t blocks, const float* bias, bool relu, float* dst);
  // Sets the outputs of these tiles whose receptive field is 0 in all of src's channels to the bias.
  void (*set_zero_fields)(const Line&, const Filters&, const float* src, TileRange, const float* bias, bool relu,
                          float* dst);
  // D of diff_dst, which counts as 0 where `dst` is given and not positive, and for tiles before and after the
  // sample's. Adds the sums over the tiles from `counted` on to diff_bias unless it is null.
  void (*transform_diff_dst)(const Line&, const float* diff_dst, const float* dst, TileRange, std::int64_t counted,
                             std::int64_t blocks, TilePlanes d, float* diff_bias);
  // diff_src from dV. REQUIRES: ranges in ascending order.
  void (*make_diff_src)(const Line&, TilePlanes dv, TileRange, std::int64_t blocks, float* diff_src);
  // U with lanes over output channels and sums over input channels, or the other way round and with the segments in
  // reverse order when `adjoint`.
  void (*transform_filters)(const Filters&, const float* weights, bool adjoint, FilterPlanes u);
  // diff_weights from dU, which has the layout of U with lanes over output channels.
  void (*make_diff_weights)(const Filters&, FilterPlanes du, float* diff_weights);
  // One point: m(t) = sum over segments and `sum_blocks` blocks of a(t + segment) . u, for `lane_blocks` blocks of
  // lanes and `tiles` tiles.
  void (*multiply)(const float* a, std::int64_t a_block, std::int64_t sum_blocks, std::int64_t segments, const float* u,
                   float* m, std::int64_t m_block, std::int64_t lane_blocks, std::int64_t tiles);
  // One point: du (+)= sum over tiles of v(t + segment) . d(t); `first` overwrites.
  void (*multiply_tiles)(const float* v, std::int64_t v_block, std::int64_t v_blocks, std::int64_t segments,
                         const float* d, std::int64_t d_block, std::int64_t d_blocks, float* du, std::int64_t tiles,
                         bool first);
};

const Passes& passes(base::Isa isa);

// The single sets. REQUIRES: a CPU with that instruction set.
extern const Passes kGenericPasses, kAvx2Passes, kAvx512Passes;

}  // namespace trireme::ops::toom_cook
