#include "ops/conv/winograd/winograd.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>

#include "base/error.h"
#include "ops/conv/winograd/winograd_plan.h"
#include "tensor/buffer.h"

namespace trireme::ops {
namespace {

using namespace winograd;

// oneDNN's OIhw16i16o and OIhw8i8o.
Layout blocked_filters(const Shape& shape, std::int64_t block) {
  const std::int64_t tap = block * block;
  Shape padded = shape;
  padded[0] = (shape[0] + block - 1) / block * block;
  return {shape, padded, {shape[1] / block * kTaps * tap, kTaps * tap, 3 * tap, tap}, {{1, block}, {0, block}}};
}

// Owns the arrays of a FilterPlaces.
class Places {
 public:
  Places() = default;
  Places(const Layout& layout, std::int64_t block) {
    for (std::int64_t o = 0; o < layout.padded[0]; ++o) out_.push_back(offset(layout, {o, 0, 0, 0}));
    for (std::int64_t i = 0; i < layout.shape[1]; ++i) in_.push_back(offset(layout, {0, i, 0, 0}));
    for (std::int64_t t = 0; t < kTaps; ++t) tap_.push_back(offset(layout, {0, 0, t / 3, t % 3}));
    blocked_ = evenly(out_, block) == 1 && evenly(in_, block) % block == 0 && evenly(tap_, kTaps) % block == 0;
    for (std::int64_t o = 0; o < layout.padded[0]; o += block) blocked_ &= out_[at(o)] % block == 0;
    for (std::int64_t i = 0; i < layout.shape[1]; i += block) blocked_ &= in_[at(i)] % block == 0;
  }
  FilterPlaces view() const { return {out_.data(), in_.data(), tap_.data(), blocked_}; }

 private:
  static std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }
  static std::int64_t offset(const Layout& layout, std::array<std::int64_t, 4> index) { return layout.offset(index); }
  // The distance between neighbours within every block, or -1 if it varies.
  static std::int64_t evenly(const std::vector<std::int64_t>& places, std::int64_t block) {
    const std::int64_t step = places[1] - places[0];
    for (std::size_t i = 1; i < places.size(); ++i)
      if (i % at(block) != 0 && places[i] - places[i - 1] != step) return -1;
    return step;
  }

  std::vector<std::int64_t> out_, in_, tap_;
  bool blocked_ = false;
};

class WinogradKernel : public Kernel {
 public:
  WinogradKernel(const KernelRequest& request, const WinogradSetup& setup, base::Isa isa)
      : setup_(setup), isa_(isa), pass_(passes(isa)), training_(request.training), diff_src_(request.diff_src[0]) {
    const Shape& in = request.src[0].shape;
    const Layout filters = blocked_filters(setup.weight_shape, pass_.block);
    const std::int64_t out_channels = filters.padded[0];
    base::check(in[1] % pass_.block == 0 && (setup.out[1] == out_channels || !setup.bias) && request.threads == 1,
                "a Winograd convolution of {} to {} channels on {} threads", in[1], setup.out[1], request.threads);
    Maps maps{in[0], in[2], in[3], setup.out[2], setup.out[3], setup.pad_top, setup.pad_left, 0, 0};
    maps.tile_rows = (maps.out_height + kStep - 1) / kStep;
    maps.tile_columns = (maps.out_width + kStep - 1) / kStep;
    p_ = make_plan(maps, in[1], out_channels, pass_.block);
    plan_.src = {Layout::channels_blocked(in, pass_.block)};
    plan_.dst = Layout::channels_blocked(setup.out, pass_.block);
    plan_.weights = {request.weights.empty() ? filters : request.weights[0]};
    if (setup.bias) plan_.weights.push_back(Layout::plain({setup.out[1]}));
    // Any layout works, except one without the padding that is needed.
    if (out_channels != setup.out[1] && !(plan_.weights[0] == filters)) plan_.derived = {{0, filters}};
    places_ = Places(plan_.derived.empty() ? plan_.weights[0] : filters, pass_.block);
    plan_.scratch_bytes = p_.forward_bytes();
    if (training_) plan_.scratch_bytes = std::max(plan_.scratch_bytes, p_.backward_bytes(diff_src_));
    if (training_ && !plan_.derived.empty()) {
      gradient_at_ = (plan_.scratch_bytes + tensor::kAlignment - 1) / tensor::kAlignment * tensor::kAlignment;
      plan_.scratch_bytes =
          gradient_at_ + static_cast<std::size_t>(filters.elements() + filters.shape.count()) * sizeof(float);
    }
    plan_.backward_needs_dst = setup.relu;
  }

  std::string implementation() const override {
    const std::string own = fmt::format("own:{}", base::isa_name(isa_));
    std::string all = fmt::format("conv winograd 4x3 padding {}x{}{} {}", setup_.pad_top, setup_.pad_left,
                                  setup_.relu ? " + relu" : "", own);
    if (training_ && diff_src_) all += " | " + own;
    if (training_) all += " | " + own;
    return all;
  }

  void forward(const KernelArgs& args, KernelState*, OarRun&) const override {
    const BlockRange all_in{0, p_.in_blocks}, all_out{0, p_.out_blocks};
    std::byte* at = args.scratch;
    const TilePlanes v = take_tiles(at, p_.in_blocks);
    const TilePlanes m = take_tiles(at, std::min(p_.lane_group, p_.out_blocks));
    for_each_group(all_out, p_.lane_group, [&](BlockRange out) {
      for_each_group(all_in, p_.sum_group, [&](BlockRange in) {
        const FilterPlanes u = p_.filter_planes(at, out.count, in.count);
        pass_.transform_filters(weights(args), places_.view(), out, in, false, u);
        for (std::int64_t r = 0; r < p_.runs(); ++r) {
          if (out.first == 0 && in.first == 0)
            pass_.transform_src(p_.maps, args.src[0], p_.in_blocks, p_.tiles(r), all_in, v);
          for (int e = 0; e < kPoints; ++e) multiply(e, v, u, in, m, out.count, p_.tiles(r).count);
          if (in.first + in.count < p_.in_blocks) continue;
          const float* bias = setup_.bias ? args.weights[1] + out.first * p_.block : nullptr;
          pass_.make_dst(p_.maps, m, p_.tiles(r), out, p_.out_blocks, bias, setup_.relu, args.dst);
          if (out.first + out.count == p_.out_blocks)
            pass_.set_zero_fields(p_.maps, args.src[0], p_.in_blocks, p_.tiles(r), p_.out_blocks,
                                  setup_.bias ? args.weights[1] : nullptr, setup_.relu, args.dst);
        }
      });
    });
  }

  void backward(const KernelArgs& args, KernelState*, OarRun& run) const override {
    const auto& slot = args.diff_weights[static_cast<std::size_t>(run.slot)];
    Gradients gradients{slot[0], setup_.bias ? slot[1] : nullptr};
    if (setup_.bias) std::fill_n(gradients[1], setup_.out[1], 0.0f);
    float* given = gradients[0];
    if (!plan_.derived.empty()) gradients[0] = reinterpret_cast<float*>(args.scratch + gradient_at_);
    if (p_.runs() > 1)
      backward_by_runs(args, gradients);
    else
      backward_by_groups(args, gradients);
    if (plan_.derived.empty()) return;
    const Layout& filters = plan_.derived[0].layout;
    float* plain = gradients[0] + filters.elements();
    tensor::to_plain(filters, gradients[0], plain);
    tensor::from_plain(plan_.weights[0], plain, given);
  }

 private:
  using Gradients = std::array<float*, 2>;  // of weights and bias

  const float* weights(const KernelArgs& args) const {
    return plan_.derived.empty() ? args.weights[0] : args.derived[0];
  }
  TilePlanes take_tiles(std::byte*& at, std::int64_t blocks) const {
    std::byte* place = at;
    at += p_.tile_bytes(blocks);
    return p_.tile_planes(place, blocks);
  }

  template <class F>
  static void for_each_group(BlockRange all, std::int64_t group, const F& f) {
    for (std::int64_t first = 0; first < all.count; first += group)
      f(BlockRange{first, std::min(group, all.count - first)});
  }

  // Point e: adds the products of a's channel blocks `sum` to m.
  void multiply(int e, TilePlanes a, FilterPlanes u, BlockRange sum, TilePlanes m, std::int64_t lanes,
                std::int64_t tiles) const {
    pass_.multiply(a.data + e * a.plane + sum.first * a.block, a.block, u.data + e * u.plane, sum.count,
                   m.data + e * m.plane, m.block, lanes, tiles, sum.first == 0);
  }

  void multiply_tiles(int e, TilePlanes v, BlockRange in, TilePlanes d, BlockRange out, FilterPlanes du,
                      TileRange tiles) const {
    pass_.multiply_tiles(v.data + e * v.plane + in.first * v.block, v.block, in.count,
                         d.data + e * d.plane + out.first * d.block, d.block, out.count, du.data + e * du.plane,
                         tiles.count, tiles.first == 0);
  }

  void transform_run(const KernelArgs& args, const Gradients& gradients, std::int64_t r, TilePlanes v,
                     TilePlanes d) const {
    pass_.transform_src(p_.maps, args.src[0], p_.in_blocks, p_.tiles(r), {0, p_.in_blocks}, v);
    pass_.transform_diff_dst(p_.maps, args.diff_dst, setup_.relu ? args.dst : nullptr, p_.out_blocks, p_.tiles(r),
                             {0, p_.out_blocks}, d, setup_.bias ? gradients[1] : nullptr);
  }

  // All filters are one group: each run of tiles goes through all passes.
  void backward_by_runs(const KernelArgs& args, const Gradients& gradients) const {
    const BlockRange in{0, p_.in_blocks}, out{0, p_.out_blocks};
    std::byte* at = args.scratch;
    const TilePlanes v = take_tiles(at, in.count), d = take_tiles(at, out.count);
    const FilterPlanes du = p_.filter_planes(at, out.count, in.count);
    const FilterPlanes u = p_.filter_planes(at + p_.filter_bytes(out.count, in.count), in.count, out.count);
    if (diff_src_) pass_.transform_filters(weights(args), places_.view(), out, in, true, u);
    for (std::int64_t r = 0; r < p_.runs(); ++r) {
      transform_run(args, gradients, r, v, d);
      for (int e = 0; e < kPoints; ++e) {
        multiply_tiles(e, v, in, d, out, du, p_.tiles(r));
        // Overwrites v, which this point does not need any more.
        if (diff_src_) multiply(e, d, u, out, v, in.count, p_.tiles(r).count);
      }
      if (diff_src_) pass_.make_diff_src(p_.maps, v, p_.tiles(r), in, p_.in_blocks, args.diff_src[0]);
    }
    pass_.make_diff_weights(du, places_.view(), out, in, gradients[0]);
  }

  // All tiles are one run: the filters are processed in groups.
  void backward_by_groups(const KernelArgs& args, const Gradients& gradients) const {
    const BlockRange all_in{0, p_.in_blocks}, all_out{0, p_.out_blocks};
    const TileRange tiles = p_.tiles(0);
    std::byte* at = args.scratch;
    const TilePlanes v = take_tiles(at, p_.in_blocks), d = take_tiles(at, p_.out_blocks);
    transform_run(args, gradients, 0, v, d);
    for_each_group(all_in, p_.weight_group, [&](BlockRange in) {
      for_each_group(all_out, p_.weight_group, [&](BlockRange out) {
        const FilterPlanes du = p_.filter_planes(at, out.count, in.count);
        for (int e = 0; e < kPoints; ++e) multiply_tiles(e, v, in, d, out, du, tiles);
        pass_.make_diff_weights(du, places_.view(), out, in, gradients[0]);
      });
    });
    if (!diff_src_) return;

    const TilePlanes m = take_tiles(at, std::min(p_.lane_group, p_.in_blocks));
    for_each_group(all_in, p_.lane_group, [&](BlockRange in) {
      for_each_group(all_out, p_.sum_group, [&](BlockRange out) {
        const FilterPlanes u = p_.filter_planes(at, in.count, out.count);
        pass_.transform_filters(weights(args), places_.view(), out, in, true, u);
        for (int e = 0; e < kPoints; ++e) multiply(e, d, u, out, m, in.count, tiles.count);
      });
      pass_.make_diff_src(p_.maps, m, tiles, in, p_.in_blocks, args.diff_src[0]);
    });
  }

  WinogradSetup setup_;
  base::Isa isa_;
  const Passes& pass_;
  bool training_, diff_src_;
  WinogradPlan p_;
  Places places_;
  std::size_t gradient_at_ = 0;  // offset in the scratch of the weights' gradient, if it has another layout
};

}  // namespace

std::int64_t winograd_block(base::Isa isa) { return passes(isa).block; }

std::unique_ptr<Kernel> make_winograd(const KernelRequest& request, const WinogradSetup& setup, base::Isa isa) {
  return std::make_unique<WinogradKernel>(request, setup, isa);
}

}  // namespace trireme::ops
