#include "ops/conv/toom_cook/toom_cook.h"

#include <algorithm>
#include <array>

#include "base/error.h"
#include "ops/conv/geometry/conv_shape.h"
#include "ops/conv/toom_cook/toom_cook_passes.h"
#include "tensor/buffer.h"

namespace trireme::ops {
namespace {

using namespace toom_cook;

constexpr std::int64_t kFewestTaps = 3, kMostTaps = 64;
constexpr std::int64_t kMostFilterFloats = 1 << 20;  // transformed, of all points

// Tiles that go through all passes at once: their memory stays in the L2 cache.
constexpr std::int64_t kRun = 56;

// The padding of a point's plane, in floats: planes a power of two apart would share cache sets.
constexpr std::int64_t kGap = 16;

constexpr std::int64_t kCacheLine = 16;  // floats

// oneDNN's OIw16i16o and OIw8i8o.
Layout blocked_filters(const Shape& shape, std::int64_t block) {
  const std::int64_t tap = block * block;
  return {shape, shape, {shape[1] / block * shape[2] * tap, shape[2] * tap, tap}, {{1, block}, {0, block}}};
}

std::int64_t segments_of(std::int64_t taps) { return (taps + kStep - 1) / kStep; }

// Splits a sample's tiles into runs of about equal length.
struct Runs {
  std::int64_t tiles = 0, run = 0;

  explicit Runs(std::int64_t all) : tiles(all) {
    const std::int64_t runs = (all + kRun - 1) / kRun;
    run = (all + runs - 1) / runs;
  }
  template <class F>
  void for_each(const F& f) const {
    for (std::int64_t first = 0; first < tiles; first += run) f(TileRange{first, std::min(run, tiles - first)});
  }
};

class ToomCookKernel : public Kernel {
 public:
  ToomCookKernel(const KernelRequest& request, const ConvOptions& o, const Shape& out, base::Isa isa)
      : o_(o), isa_(isa), pass_(passes(isa)), training_(request.training), diff_src_(request.diff_src[0]) {
    const Shape& in = request.src[0].shape;
    base::check(toom_cook_fits(o, in, isa) && request.threads == 1, "a Toom-Cook convolution of {} to {} on {} threads",
                in.text(), out.text(), request.threads);
    const Layout filters = blocked_filters({out[1], in[1], o.kernel[0]}, pass_.block);
    samples_ = in[0];
    line_ = {in[2], out[2], o.padding[0], segments_of(o.kernel[0])};
    filters_ = {out[1] / pass_.block, in[1] / pass_.block, o.kernel[0]};
    plan_.src = {Layout::channels_blocked(in, pass_.block)};
    plan_.dst = Layout::channels_blocked(out, pass_.block);
    plan_.weights = {request.weights.empty() ? filters : request.weights[0]};
    if (o.bias) plan_.weights.push_back(Layout::plain({out[1]}));
    if (!(plan_.weights[0] == filters)) plan_.derived = {{0, filters}};
    plan_.backward_needs_dst = o.relu;
    plan_scratch();
  }

  std::string implementation() const override {
    const std::string own = fmt::format("own:{}", base::isa_name(isa_));
    std::string all = fmt::format("conv toom-cook 4x4 padding {}{} {}", line_.padding, o_.relu ? " + relu" : "", own);
    if (training_ && diff_src_) all += " | " + own;
    if (training_) all += " | " + own;
    return all;
  }

  void forward(const KernelArgs& args, KernelState*, OarRun&) const override {
    const TilePlanes v = tile_planes(args, first_at_, filters_.in_blocks);
    const TilePlanes m = tile_planes(args, second_at_, filters_.out_blocks);
    const FilterPlanes u = filter_planes(args, u_at_);
    const float* bias = o_.bias ? args.weights[1] : nullptr;
    pass_.transform_filters(filters_, weights(args), false, u);
    for (std::int64_t n = 0; n < samples_; ++n)
      Runs(line_.out_tiles()).for_each([&](TileRange tiles) {
        const TileRange read{tiles.first, tiles.count + line_.segments - 1};
        pass_.transform_src(line_, args.src[0] + n * in_sample(), read, filters_.in_blocks, v);
        for (int e = 0; e < kPoints; ++e) {
          prefetch_share(e, args.src[0] + n * in_sample(), line_.width, filters_.in_blocks, tiles);
          prefetch_share(e, args.dst + n * out_sample(), line_.out_width, filters_.out_blocks, tiles);
          multiply(e, v, filters_.in_blocks, u, m, filters_.out_blocks, tiles.count);
        }
        pass_.make_dst(line_, m, tiles, filters_.out_blocks, bias, o_.relu, args.dst + n * out_sample());
        pass_.set_zero_fields(line_, filters_, args.src[0] + n * in_sample(), tiles, bias, o_.relu,
                              args.dst + n * out_sample());
      });
  }

  void backward(const KernelArgs& args, KernelState*, OarRun& run) const override {
    const auto& gradients = args.diff_weights[static_cast<std::size_t>(run.slot)];
    float* bias = o_.bias ? gradients[1] : nullptr;
    if (o_.bias) std::fill_n(bias, o_.channels, 0.0f);
    const TilePlanes v = tile_planes(args, first_at_, filters_.in_blocks);
    const TilePlanes d = tile_planes(args, second_at_, filters_.out_blocks);
    const FilterPlanes u = filter_planes(args, u_at_), du = filter_planes(args, du_at_);
    if (diff_src_) pass_.transform_filters(filters_, weights(args), true, u);
    for (std::int64_t n = 0; n < samples_; ++n)
      Runs(line_.in_tiles()).for_each([&](TileRange tiles) {
        const std::int64_t more = line_.segments - 1;
        pass_.transform_src(line_, args.src[0] + n * in_sample(), {tiles.first, tiles.count + more}, filters_.in_blocks,
                            v);
        pass_.transform_diff_dst(line_, args.diff_dst + n * out_sample(),
                                 o_.relu ? args.dst + n * out_sample() : nullptr,
                                 {tiles.first - more, tiles.count + more}, tiles.first, filters_.out_blocks, d, bias);
        const std::int64_t with_output = std::min(tiles.count, line_.out_tiles() - tiles.first);
        for (int e = 0; e < kPoints; ++e) {
          prefetch_share(e, args.src[0] + n * in_sample(), line_.width, filters_.in_blocks, tiles);
          prefetch_share(e, args.diff_dst + n * out_sample(), line_.out_width, filters_.out_blocks, tiles);
          if (o_.relu) prefetch_share(e, args.dst + n * out_sample(), line_.out_width, filters_.out_blocks, tiles);
          if (diff_src_) prefetch_share(e, args.diff_src[0] + n * in_sample(), line_.width, filters_.in_blocks, tiles);
          if (with_output > 0) multiply_tiles(e, v, d, du, with_output, n == 0 && tiles.first == 0);
          // Overwrites v, which this point does not need any more.
          if (diff_src_) multiply(e, d, filters_.out_blocks, u, v, filters_.in_blocks, tiles.count);
        }
        if (diff_src_) pass_.make_diff_src(line_, v, tiles, filters_.in_blocks, args.diff_src[0] + n * in_sample());
      });
    make_diff_weights(args, du, gradients[0]);
  }

 private:
  std::int64_t in_sample() const { return filters_.in_blocks * pass_.block * line_.width; }
  std::int64_t out_sample() const { return filters_.out_blocks * pass_.block * line_.out_width; }
  const float* weights(const KernelArgs& args) const {
    return plan_.derived.empty() ? args.weights[0] : args.derived[0];
  }

  // The floats of a channel block for the longest run, with the tiles that further segments read.
  std::int64_t tile_block() const {
    const std::int64_t run = std::max(Runs(line_.out_tiles()).run, Runs(line_.in_tiles()).run);
    return (run + line_.segments - 1) * pass_.block;
  }
  std::int64_t tile_plane(std::int64_t blocks) const { return blocks * tile_block() + kGap; }
  std::int64_t filter_plane() const {
    return filters_.in_blocks * filters_.out_blocks * line_.segments * pass_.block * pass_.block + kGap;
  }
  static float* at(const KernelArgs& args, std::size_t place) { return reinterpret_cast<float*>(args.scratch + place); }
  TilePlanes tile_planes(const KernelArgs& args, std::size_t place, std::int64_t blocks) const {
    return {at(args, place), tile_plane(blocks), tile_block()};
  }
  FilterPlanes filter_planes(const KernelArgs& args, std::size_t place) const {
    return {at(args, place), filter_plane()};
  }

  void plan_scratch() {
    std::size_t end = 0;
    const auto take = [&](std::int64_t floats) {
      const std::size_t place = end;
      end = tensor::align_up(end + static_cast<std::size_t>(floats) * sizeof(float));
      return place;
    };
    first_at_ = take(kPoints * tile_plane(filters_.in_blocks));
    second_at_ = take(kPoints * tile_plane(filters_.out_blocks));
    u_at_ = take(kPoints * filter_plane());
    if (training_) du_at_ = take(kPoints * filter_plane());
    if (training_ && !plan_.derived.empty()) gradient_at_ = take(2 * plan_.derived[0].layout.elements());
    plan_.scratch_bytes = end;
  }

  // Prefetches one point's share of the memory that the next run reads or writes: the transforms are too short for the
  // CPU's own prefetcher. Inline, because GCC removes calls of functions that only prefetch.
  [[gnu::always_inline]] void prefetch_share(int e, const float* sample, std::int64_t width, std::int64_t blocks,
                                             TileRange tiles) const {
    const std::int64_t floats = kStep * tiles.count * pass_.block, first = kStep * tiles.first * pass_.block + floats;
    for (std::int64_t b = 0; b < blocks; ++b) {
      const float* next = sample + b * width * pass_.block + first;
      for (std::int64_t i = floats * e / kPoints; i < floats * (e + 1) / kPoints; i += kCacheLine)
        __builtin_prefetch(next + i, 0, 2);
    }
  }

  void multiply(int e, TilePlanes a, std::int64_t sum_blocks, FilterPlanes u, TilePlanes m, std::int64_t lane_blocks,
                std::int64_t tiles) const {
    pass_.multiply(a.data + e * a.plane, a.block, sum_blocks, line_.segments, u.data + e * u.plane,
                   m.data + e * m.plane, m.block, lane_blocks, tiles);
  }

  void multiply_tiles(int e, TilePlanes v, TilePlanes d, FilterPlanes du, std::int64_t tiles, bool first) const {
    const float* own = d.data + e * d.plane + (line_.segments - 1) * pass_.block;  // d begins with earlier tiles
    pass_.multiply_tiles(v.data + e * v.plane, v.block, filters_.in_blocks, line_.segments, own, d.block,
                         filters_.out_blocks, du.data + e * du.plane, tiles, first);
  }

  void make_diff_weights(const KernelArgs& args, FilterPlanes du, float* gradient) const {
    if (plan_.derived.empty()) {
      pass_.make_diff_weights(filters_, du, gradient);
      return;
    }
    const Layout& blocked = plan_.derived[0].layout;
    float *made = at(args, gradient_at_), *plain = made + blocked.elements();
    pass_.make_diff_weights(filters_, du, made);
    tensor::to_plain(blocked, made, plain);
    tensor::from_plain(plan_.weights[0], plain, gradient);
  }

  ConvOptions o_;
  base::Isa isa_;
  const Passes& pass_;
  bool training_, diff_src_;
  std::int64_t samples_ = 0;
  Line line_;
  Filters filters_;
  // Offsets in the scratch: V; M or D; U; dU; and the weights' gradient if it has another layout.
  std::size_t first_at_ = 0, second_at_ = 0, u_at_ = 0, du_at_ = 0, gradient_at_ = 0;
};

}  // namespace

bool toom_cook_fits(const ConvOptions& o, const Shape& src, base::Isa isa) {
  if (o.kernel.size() != 1 || o.stride[0] != 1 || o.groups != 1) return false;
  const std::int64_t block = passes(isa).block, taps = o.kernel[0];
  return taps >= kFewestTaps && taps <= kMostTaps && o.padding[0] < taps && src[1] % block == 0 &&
         o.channels % block == 0 && kPoints * segments_of(taps) * src[1] * o.channels <= kMostFilterFloats;
}

// The cost in vector multiply-adds per input channel and vector of output channels, the same for all three directions:
// 7 per tile and segment; about 21 for the transforms of a tile, which all channels of the other side share; about 10
// to start a segment of a sample; 28 to transform the segment's filter. Measured on Zen 4 against oneDNN's direct
// kernels (docs/design/004-winograd.md).
bool toom_cook_wins(const ConvOptions& o, const Shape& src, const Shape& out, base::Isa isa) {
  if (isa == base::Isa::generic) return false;  // correct, but slow
  const auto segments = static_cast<double>(segments_of(o.kernel[0])), samples = static_cast<double>(src[0]);
  const std::int64_t whole_tiles = (out[2] + kStep - 1) / kStep;
  const auto tiles = static_cast<double>(whole_tiles);
  const double shared = 1 / static_cast<double>(src[1]) + 1 / static_cast<double>(out[1]);
  const double cost = samples * (tiles * (7 * segments + 21 * shared) + 10 * segments) + 28 * segments;
  return cost < samples * static_cast<double>(products_inside(src[2], out[2], o.kernel[0], o.padding[0]));
}

std::unique_ptr<Kernel> make_toom_cook(const KernelRequest& request, const ConvOptions& options, const Shape& out) {
  return std::make_unique<ToomCookKernel>(request, options, out, base::active_isa());
}

}  // namespace trireme::ops
