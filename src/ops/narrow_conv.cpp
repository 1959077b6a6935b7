#include "ops/narrow_conv.h"

#include <algorithm>

#include "base/error.h"
#include "ops/narrow_passes.h"
#include "tensor/buffer.h"

namespace trireme::ops {
namespace {

using narrow::Images;
using narrow::Sizes;

constexpr std::int64_t kLanes = base::kLanes;

std::int64_t whole_vectors(std::int64_t count) { return (count + kLanes - 1) / kLanes * kLanes; }

// A size per image dimension; a convolution over one dimension has images of one row.
struct Plane {
  std::int64_t height = 1, width = 1;
};
template <class Values>
Plane plane_of(const Values& values, int first, int rank, std::int64_t missing) {
  const auto at = [&](int d) { return static_cast<std::int64_t>(values[static_cast<std::size_t>(first + d)]); };
  return rank == 1 ? Plane{missing, at(0)} : Plane{at(0), at(1)};
}

// Zero-padded scratch for the images of one sample.
struct Padded {
  std::int64_t channels = 0, top = 0, left = 0;
  Plane image;
  std::int64_t rows = 0, row = 0;

  std::int64_t plane() const { return rows * row; }
  std::int64_t floats() const { return channels * plane(); }
  Images<float> all(float* data) const { return {data, plane(), row}; }

  // Copies one sample's images to their place; the padding was zeroed before. With `dst`, what it does not let through
  // is 0.
  void fill(const float* images, const float* dst, float* data) const {
    for (std::int64_t c = 0; c < channels; ++c)
      for (std::int64_t y = 0; y < image.height; ++y) {
        const std::int64_t from = (c * image.height + y) * image.width;
        float* to = data + c * plane() + (top + y) * row + left;
        if (dst == nullptr)
          std::copy_n(images + from, image.width, to);
        else
          for (std::int64_t x = 0; x < image.width; ++x) to[x] = dst[from + x] > 0 ? images[from + x] : 0.0f;
      }
  }
};

class NarrowConvKernel : public Kernel {
 public:
  NarrowConvKernel(const KernelRequest& request, const ConvOptions& o, const Shape& out)
      : o_(o), passes_(narrow::passes(base::active_isa())), diff_src_(request.training && request.diff_src[0]) {
    const Shape& src = request.src[0].shape;
    const int rank = static_cast<int>(o.kernel.size());
    const Plane in = plane_of(src.sizes(), 2, rank, 1), to = plane_of(out.sizes(), 2, rank, 1);
    const Plane kernel = plane_of(o.kernel, 0, rank, 1), padding = plane_of(o.padding, 0, rank, 0);
    samples_ = src[0];
    sizes_ = {src[1], out[1], kernel.height, kernel.width, to.height, to.width};
    src_ = {src[1], padding.height, padding.width, in, in.height + 2 * padding.height, 0};
    src_.row = whole_vectors(std::max(whole_vectors(to.width) + kernel.width - 1, in.width + padding.width));
    // The gradient to the input is a correlation of the output's gradient, padded on all sides, with the flipped
    // kernel.
    const Plane border{kernel.height - 1 - padding.height, kernel.width - 1 - padding.width};
    diff_sizes_ = {out[1], src[1], kernel.height, kernel.width, in.height, in.width};
    border_ = border.width;
    diff_ = {out[1], border.height, whole_vectors(border_), to, to.height + 2 * border.height, 0};
    diff_.row = diff_.left + whole_vectors(std::max(whole_vectors(in.width) + kernel.width - 1, to.width));

    const Shape weight{std::vector<std::int64_t>(weight_sizes(src[1]))};
    weights_ = weight.count();
    plan_.src = {Layout::plain(src)};
    plan_.dst = Layout::plain(out);
    plan_.weights = {Layout::plain(weight)};
    if (o.bias) plan_.weights.push_back(Layout::plain({out[1]}));
    for (std::size_t p = 0; p < request.weights.size(); ++p)
      base::check(request.weights[p] == plan_.weights[p], "a narrow convolution wants plain weights, not {}",
                  request.weights[p].text());
    plan_.backward_needs_dst = o.relu;
    const std::int64_t forward = src_.floats() + weights_;
    const std::int64_t backward = src_.floats() + diff_.floats() + (weights_ + out[1]) * kLanes;
    plan_.scratch_bytes =
        static_cast<std::size_t>(request.training ? std::max(forward, backward) : forward) * sizeof(float);
    plan_.scratch_bytes += tensor::kAlignment;
  }

  std::string implementation() const override {
    return fmt::format("conv stride {} padding {}{} narrow", Shape(o_.stride).text(), Shape(o_.padding).text(),
                       o_.relu ? " + relu" : "");
  }

  void forward(const KernelArgs& args, KernelState*, OarRun&) const override {
    auto* src = reinterpret_cast<float*>(args.scratch);
    float* weights = src + src_.floats();
    std::fill_n(src, src_.floats(), 0.0f);
    const std::int64_t taps = sizes_.kernel_height * sizes_.kernel_width;
    for (std::int64_t o = 0; o < sizes_.out_channels; ++o)
      for (std::int64_t i = 0; i < sizes_.in_channels * taps; ++i)
        weights[i * sizes_.out_channels + o] = args.weights[0][o * sizes_.in_channels * taps + i];
    const std::int64_t from = sample(src_), plane = sizes_.height * sizes_.width, to = sizes_.out_channels * plane;
    for (std::int64_t n = 0; n < samples_; ++n) {
      src_.fill(args.src[0] + n * from, nullptr, src);
      passes_.correlate(sizes_, readable(src_, src), weights, o_.bias ? args.weights[1] : nullptr, o_.relu,
                        {args.dst + n * to, plane, sizes_.width});
    }
  }

  void backward(const KernelArgs& args, KernelState*, OarRun& run) const override {
    auto* src = reinterpret_cast<float*>(args.scratch);
    float* diff = src + src_.floats();
    float* lanes = diff + diff_.floats();
    float* bias = lanes + weights_ * kLanes;
    const auto& gradient = args.diff_weights[static_cast<std::size_t>(run.slot)];
    std::fill_n(src, src_.floats() + diff_.floats() + (weights_ + o_.channels) * kLanes, 0.0f);
    Images<const float> at_image = readable(diff_, diff);
    at_image.data += diff_.top * diff_.row + diff_.left;
    const float* dst = o_.relu ? args.dst : nullptr;
    for (std::int64_t n = 0; n < samples_; ++n) {
      src_.fill(args.src[0] + n * sample(src_), nullptr, src);
      diff_.fill(args.diff_dst + n * sample(diff_), dst == nullptr ? nullptr : dst + n * sample(diff_), diff);
      passes_.correlate_gradient(sizes_, readable(src_, src), at_image, lanes);
      if (o_.bias) passes_.bias_gradient(sizes_, at_image, bias);
    }
    for (std::int64_t i = 0; i < weights_; ++i) gradient[0][i] = base::sum(base::load(lanes + i * kLanes));
    if (o_.bias)
      for (std::int64_t o = 0; o < o_.channels; ++o) gradient[1][o] = base::sum(base::load(bias + o * kLanes));
    if (diff_src_) backward_data(args, diff, lanes);
  }

 private:
  std::vector<std::int64_t> weight_sizes(std::int64_t in_channels) const {
    std::vector<std::int64_t> sizes{o_.channels, in_channels};
    sizes.insert(sizes.end(), o_.kernel.begin(), o_.kernel.end());
    return sizes;
  }
  static std::int64_t sample(const Padded& p) { return p.channels * p.image.height * p.image.width; }
  static Images<const float> readable(const Padded& p, const float* data) { return {data, p.plane(), p.row}; }

  void backward_data(const KernelArgs& args, float* diff, float* weights) const {
    const std::int64_t taps = sizes_.kernel_height * sizes_.kernel_width, channels = sizes_.in_channels;
    for (std::int64_t o = 0; o < sizes_.out_channels; ++o)
      for (std::int64_t i = 0; i < channels; ++i)
        for (std::int64_t k = 0; k < taps; ++k)
          weights[(o * taps + taps - 1 - k) * channels + i] = args.weights[0][(o * channels + i) * taps + k];
    const float* dst = o_.relu ? args.dst : nullptr;
    const std::int64_t plane = src_.image.height * src_.image.width;
    for (std::int64_t n = 0; n < samples_; ++n) {
      diff_.fill(args.diff_dst + n * sample(diff_), dst == nullptr ? nullptr : dst + n * sample(diff_), diff);
      Images<const float> from = readable(diff_, diff);
      from.data += diff_.left - border_;
      passes_.correlate(diff_sizes_, from, weights, nullptr, false,
                        {args.diff_src[0] + n * sample(src_), plane, src_.image.width});
    }
  }

  ConvOptions o_;
  const narrow::Passes& passes_;
  bool diff_src_;
  std::int64_t samples_ = 0, weights_ = 0, border_ = 0;
  Sizes sizes_, diff_sizes_;
  Padded src_, diff_;
};

}  // namespace

bool narrow_conv_fits(const ConvOptions& o) {
  for (std::size_t d = 0; d < o.kernel.size(); ++d)
    if (o.stride[d] != 1 || o.padding[d] >= o.kernel[d]) return false;
  return o.groups == 1;
}

bool narrow_conv_wins(const ConvOptions& o, const Shape& src, const Shape& out, base::Isa isa) {
  if (!narrow_conv_fits(o) || isa == base::Isa::generic) return false;  // without fma instructions it is slow
  const std::int64_t block = isa == base::Isa::avx512 ? 16 : 8;
  const auto used = [&](std::int64_t count) {
    return static_cast<double>(count) / static_cast<double>((count + block - 1) / block * block);
  };
  // Of the vectors' lanes, own loops use those along a row and oneDNN those that are channels. The factors are
  // measured: with AVX2 oneDNN is also slow at first layers.
  const double columns = std::min(used(out[out.rank() - 1]), used(src[src.rank() - 1]));
  return out[1] < block && columns > (isa == base::Isa::avx512 ? 1.5 : 1.1) * used(out[1]);
}

std::unique_ptr<Kernel> make_narrow_conv(const KernelRequest& request, const ConvOptions& options, const Shape& out) {
  return std::make_unique<NarrowConvKernel>(request, options, out);
}

}  // namespace trireme::ops
