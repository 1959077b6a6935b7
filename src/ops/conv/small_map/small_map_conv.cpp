#include "ops/conv/small_map/small_map_conv.h"

#include <fmt/core.h>

#include <algorithm>

#include "base/error.h"
#include "ops/conv/small_map/small_map_passes.h"
#include "ops/vector/relu_mask.h"

namespace trireme::ops {
namespace {

using small_map::kPanel;
using small_map::TapLink;
using small_map::TapLinks;

// [out / kPanel][kernel][in][kPanel]
Layout panels(const Shape& weight) {
  const std::int64_t tap = weight[1] * kPanel;
  return {weight, weight, {weight[2] * weight[3] * tap, kPanel, weight[3] * tap, tap}, {{0, kPanel}}};
}

// All links of a convolution, ordered by output position, then tap.
std::vector<TapLink> links_of(const ConvOptions& o, const Shape& src, const Shape& out) {
  std::vector<TapLink> all;
  for (std::int64_t y = 0; y < out[2]; ++y)
    for (std::int64_t x = 0; x < out[3]; ++x)
      for (std::int64_t ky = 0; ky < o.kernel[0]; ++ky)
        for (std::int64_t kx = 0; kx < o.kernel[1]; ++kx) {
          const std::int64_t from_y = y * o.stride[0] + ky - o.padding[0], from_x = x * o.stride[1] + kx - o.padding[1];
          if (from_y < 0 || from_y >= src[2] || from_x < 0 || from_x >= src[3]) continue;
          all.push_back({from_y * src[3] + from_x, y * out[3] + x, ky * o.kernel[1] + kx});
        }
  return all;
}

// Links grouped by one of their ends; the order within a group stays.
class Groups {
 public:
  Groups(std::vector<TapLink> links, std::int64_t TapLink::*end, std::int64_t count) : links_(std::move(links)) {
    std::stable_sort(links_.begin(), links_.end(), [&](const TapLink& a, const TapLink& b) { return a.*end < b.*end; });
    const TapLink* at = links_.data();
    for (std::int64_t group = 0; group < count; ++group) {
      const TapLink* first = at;
      while (at != links_.data() + links_.size() && at->*end == group) ++at;
      groups_.push_back({first, at});
    }
  }
  Groups(const Groups&) = delete;
  Groups& operator=(const Groups&) = delete;
  const TapLinks* data() const { return groups_.data(); }

 private:
  std::vector<TapLink> links_;
  std::vector<TapLinks> groups_;
};

class SmallMapConvKernel : public Kernel {
 public:
  SmallMapConvKernel(const KernelRequest& request, const ConvOptions& o, const Shape& out)
      : o_(o),
        passes_(small_map::passes(base::active_isa())),
        diff_src_(request.training && request.diff_src[0]),
        sizes_(sizes_of(o, request.src[0].shape, out)),
        by_out_(links_of(o, request.src[0].shape, out), &TapLink::out, sizes_.out_positions),
        by_in_(links_of(o, request.src[0].shape, out), &TapLink::in, sizes_.in_positions),
        by_tap_(links_of(o, request.src[0].shape, out), &TapLink::tap, sizes_.taps) {
    const Shape& src = request.src[0].shape;
    const Shape weight{out[1], src[1], o.kernel[0], o.kernel[1]};
    plan_.src = {Layout::channels_blocked(src, passes_.block)};
    plan_.dst = Layout::channels_blocked(out, passes_.block);
    plan_.weights = {request.weights.empty() ? panels(weight) : request.weights[0]};
    if (o.bias) plan_.weights.push_back(Layout::plain({out[1]}));
    if (!(plan_.weights[0] == panels(weight))) {
      plan_.derived = {{0, panels(weight)}};
      plan_.scratch_bytes = 2 * static_cast<std::size_t>(weight.count()) * sizeof(float);
    }
    plan_.backward_needs_dst = o.relu;
  }

  std::string implementation() const override {
    return fmt::format("conv stride {} padding {}{} small map own:{}", Shape(o_.stride).text(),
                       Shape(o_.padding).text(), o_.relu ? " + relu" : "", base::isa_name(base::active_isa()));
  }

  void forward(const KernelArgs& args, KernelState*, OarRun&) const override {
    passes_.forward(sizes_, by_out_.data(), args.src[0], weights(args), o_.bias ? args.weights[1] : nullptr, o_.relu,
                    args.dst);
  }

  void backward(const KernelArgs& args, KernelState*, OarRun& run) const override {
    if (o_.relu) relu_mask(args.diff_dst, args.dst, plan_.dst.elements());
    const auto& gradients = args.diff_weights[static_cast<std::size_t>(run.slot)];
    if (o_.bias) bias_gradient(args.diff_dst, gradients[1]);
    if (plan_.derived.empty()) {
      passes_.backward_weights(sizes_, by_tap_.data(), args.src[0], args.diff_dst, gradients[0]);
    } else {  // another Program has chosen another layout
      auto* own = reinterpret_cast<float*>(args.scratch);
      float* plain = own + plan_.weights[0].shape.count();
      passes_.backward_weights(sizes_, by_tap_.data(), args.src[0], args.diff_dst, own);
      tensor::to_plain(plan_.derived[0].layout, own, plain);
      tensor::from_plain(plan_.weights[0], plain, gradients[0]);
    }
    if (diff_src_) passes_.backward_data(sizes_, by_in_.data(), args.diff_dst, weights(args), args.diff_src[0]);
  }

 private:
  static small_map::Sizes sizes_of(const ConvOptions& o, const Shape& src, const Shape& out) {
    return {src[0], src[1], out[1], src[2] * src[3], out[2] * out[3], o.kernel[0] * o.kernel[1]};
  }
  const float* weights(const KernelArgs& args) const {
    return plan_.derived.empty() ? args.weights[0] : args.derived[0];
  }

  void bias_gradient(const float* diff_dst, float* gradient) const {
    std::fill_n(gradient, sizes_.out_channels, 0.0f);
    for (std::int64_t n = 0; n < sizes_.samples; ++n)
      for (std::int64_t c = 0; c < sizes_.out_channels; c += passes_.block)
        for (std::int64_t p = 0; p < sizes_.out_positions; ++p, diff_dst += passes_.block)
          for (std::int64_t k = 0; k < passes_.block; ++k) gradient[c + k] += diff_dst[k];
  }

  ConvOptions o_;
  const small_map::Passes& passes_;
  bool diff_src_;
  small_map::Sizes sizes_;
  Groups by_out_, by_in_, by_tap_;
};

}  // namespace

bool small_map_conv_fits(const ConvOptions& o, const Shape& src, const Shape& out) {
  return o.kernel.size() == 2 && o.groups == 1 && src[1] % base::kLanes == 0 && out[1] % kPanel == 0;
}

bool small_map_conv_wins(const ConvOptions& o, const Shape& src, const Shape& out, base::Isa isa) {
  if (!small_map_conv_fits(o, src, out)) return false;
  const std::int64_t positions = out.count_from(2), taps = o.kernel[0] * o.kernel[1];
  switch (isa) {  // measured on Zen 4
    case base::Isa::avx512: return positions <= 4;
    case base::Isa::avx2: return positions > 1 && positions <= 4 && taps > 1;
    case base::Isa::generic: return false;  // slow without fma instructions
  }
  return false;
}

std::unique_ptr<Kernel> make_small_map_conv(const KernelRequest& request, const ConvOptions& options,
                                            const Shape& out) {
  return std::make_unique<SmallMapConvKernel>(request, options, out);
}

}  // namespace trireme::ops
