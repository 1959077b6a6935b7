#include "ops/conv/narrow/narrow_conv.h"

#include <algorithm>
#include <cstring>

#include "base/error.h"
#include "ops/conv/narrow/narrow_passes.h"
#include "ops/vector/transpose.h"
#include "tensor/buffer.h"

namespace trireme::ops {
namespace {

using narrow::Images;
using narrow::Sizes;

constexpr std::int64_t kLanes = base::kLanes;
constexpr std::int64_t kManyTaps = 128;

std::int64_t whole_vectors(std::int64_t count) { return (count + kLanes - 1) / kLanes * kLanes; }

// A height and a width; a convolution over one dimension has images of one row.
struct Plane {
  std::int64_t height = 1, width = 1;
};
template <class Values>
Plane plane_of(const Values& values, int first, int rank, std::int64_t missing) {
  const auto at = [&](std::size_t d) { return static_cast<std::int64_t>(values[static_cast<std::size_t>(first) + d]); };
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

  // Copies one sample's images into `data`. REQUIRES: the padding is zero.
  void fill(const float* images, float* data) const {
    for (std::int64_t c = 0; c < channels; ++c)
      for (std::int64_t y = 0; y < image.height; ++y)
        copy_row(images + (c * image.height + y) * image.width, image.width,
                 data + c * plane() + (top + y) * row + left);
  }

 private:
  // Rows are short: a call of memcpy would take longer than the copy.
  static void copy_row(const float* from, std::int64_t count, float* to) {
    if (count >= 16)
      copy_steps<16>(from, count, to);
    else if (count >= 4)
      copy_steps<4>(from, count, to);
    else
      copy_steps<1>(from, count, to);
  }
  // The last step may overlap the step before.
  template <std::int64_t kStep>
  static void copy_steps(const float* from, std::int64_t count, float* to) {
    for (std::int64_t x = 0; x < count; x += kStep) {
      const std::int64_t at = std::min(x, count - kStep);
      std::memcpy(to + at, from + at, kStep * sizeof(float));
    }
  }
};

// The fraction of vector lanes in use when `count` elements fill vectors of `block` lanes.
double used_lanes(std::int64_t count, std::int64_t block) {
  const std::int64_t vectors = (count + block - 1) / block;
  return static_cast<double>(count) / static_cast<double>(vectors * block);
}

enum class Lanes { columns, channels, patches };

// Functions of the shape alone, because the gradients' bits depend on the choice.
Lanes forward_lanes(const Sizes& sizes) {
  return used_lanes(sizes.out_channels, kLanes) > used_lanes(sizes.width, kLanes) ? Lanes::channels : Lanes::columns;
}
// A correlation for the input's gradient also processes the zero border around the output's gradient.
Lanes diff_lanes(const Sizes& forward, const Sizes& back) {
  const double work =
      static_cast<double>(forward.height * forward.width) / static_cast<double>(back.height * back.width);
  const Lanes lanes = forward_lanes(back);
  const double used = used_lanes(lanes == Lanes::channels ? back.out_channels : back.width, kLanes) * work;
  return used_lanes(forward.kernel_width * forward.in_channels, kLanes) > used ? Lanes::patches : lanes;
}

std::string_view name(Lanes lanes) {
  return lanes == Lanes::columns ? "columns" : lanes == Lanes::channels ? "channels" : "patches";
}

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
    // The input's gradient is a correlation of the output's gradient, padded on all sides, with the flipped kernel.
    const Plane border{kernel.height - 1 - padding.height, kernel.width - 1 - padding.width};
    diff_sizes_ = {out[1], src[1], kernel.height, kernel.width, in.height, in.width};
    border_ = border.width;
    diff_ = {out[1], border.height, whole_vectors(border_), to, to.height + 2 * border.height, 0};
    diff_.row = diff_.left + whole_vectors(std::max(whole_vectors(in.width) + kernel.width - 1, to.width));

    lanes_ = forward_lanes(sizes_);
    diff_lanes_ = diff_lanes(sizes_, diff_sizes_);

    const Shape weight{std::vector<std::int64_t>(weight_sizes(src[1]))};
    plan_.src = {Layout::plain(src)};
    plan_.dst = Layout::plain(out);
    plan_.weights = {Layout::plain(weight)};
    if (o.bias) plan_.weights.push_back(Layout::plain({out[1]}));
    for (std::size_t p = 0; p < request.weights.size(); ++p)
      base::check(request.weights[p] == plan_.weights[p], "a narrow convolution wants plain weights, not {}",
                  request.weights[p].text());
    plan_.backward_needs_dst = o.relu;
    plan_scratch(request.training);
  }

  std::string implementation() const override {
    return fmt::format("conv stride {} padding {}{} narrow, lanes are {} and {}", Shape(o_.stride).text(),
                       Shape(o_.padding).text(), o_.relu ? " + relu" : "", name(lanes_), name(diff_lanes_));
  }

  void forward(const KernelArgs& args, KernelState*, OarRun&) const override {
    auto* scratch = reinterpret_cast<float*>(args.scratch);
    std::fill_n(scratch, forward_floats_, 0.0f);
    float *src = scratch, *weights = scratch + weights_at_, *bias = nullptr;
    transpose(args.weights[0], taps_of(sizes_), sizes_.out_channels, taps_of(sizes_), weights, out_row());
    if (o_.bias) std::copy_n(args.weights[1].floats(), o_.channels, bias = scratch + bias_at_);
    for (std::int64_t n = 0; n < samples_; ++n) {
      correlate(sizes_, lanes_, sample_of(args.src[0], n, src), weights, bias, o_.relu, scratch + positions_at_,
                args.dst + n * sample(diff_));
    }
  }

  void backward(const KernelArgs& args, KernelState*, OarRun& run) const override {
    auto* scratch = reinterpret_cast<float*>(args.scratch);
    float *src = scratch, *diff = scratch + diff_at_, *positions = scratch + positions_at_;
    float *sums = scratch + sums_at_, *bias = scratch + bias_sums_at_, *weights = scratch + weights_at_;
    std::fill_n(scratch, backward_floats_, 0.0f);
    if (diff_src_) rearrange_weights(args.weights[0], weights);
    Images<const float> at_image = readable(diff_, diff), at_border = at_image;
    at_image.data += diff_.top * diff_.row + diff_.left;
    at_border.data += diff_.left - border_;
    for (std::int64_t n = 0; n < samples_; ++n) {
      const Images<const float> in = sample_of(args.src[0], n, src);
      const float* gradient = args.diff_dst + n * sample(diff_);
      if (o_.relu) gradient = relu_gradient(gradient, args.dst + n * sample(diff_), scratch + masked_at_);
      if (lanes_ == Lanes::columns || (diff_src_ && diff_lanes_ != Lanes::patches)) diff_.fill(gradient, diff);
      if (lanes_ == Lanes::channels) {
        const std::int64_t plane = sizes_.height * sizes_.width;
        for (std::int64_t o = 0; o < o_.channels; o += kLanes)
          transpose(gradient + o * plane, plane, std::min(kLanes, o_.channels - o), plane, positions + o * plane,
                    kLanes);
        passes_.channels.gradient(sizes_, in, positions, sums);
        if (o_.bias) passes_.channels.bias_gradient(sizes_, positions, bias);
      } else {
        passes_.columns.gradient(sizes_, in, at_image, sums);
        if (o_.bias) passes_.columns.bias_gradient(sizes_, at_image, bias);
      }
      if (diff_src_ && diff_lanes_ == Lanes::patches)
        input_gradient(gradient, weights, scratch + patches_at_, scratch + row_at_,
                       args.diff_src[0] + n * sample(src_));
      else if (diff_src_)
        correlate(diff_sizes_, diff_lanes_, at_border, weights, nullptr, false, positions,
                  args.diff_src[0] + n * sample(src_));
    }
    const auto& gradient = args.diff_weights[static_cast<std::size_t>(run.slot)];
    if (lanes_ == Lanes::channels) {
      transpose(sums, out_row(), taps_of(sizes_), o_.channels, gradient[0], taps_of(sizes_));
      if (o_.bias) std::copy_n(bias, o_.channels, gradient[1].floats());
    } else {
      add_lanes(sums, o_.channels * taps_of(sizes_), gradient[0]);
      if (o_.bias) add_lanes(bias, o_.channels, gradient[1]);
    }
  }

 private:
  std::vector<std::int64_t> weight_sizes(std::int64_t in_channels) const {
    std::vector<std::int64_t> sizes{o_.channels, in_channels};
    sizes.insert(sizes.end(), o_.kernel.begin(), o_.kernel.end());
    return sizes;
  }
  static std::int64_t sample(const Padded& p) { return p.channels * p.image.height * p.image.width; }
  static Images<const float> readable(const Padded& p, const float* data) { return {data, p.plane(), p.row}; }
  // The input of sample n: in place if the passes need no padding around it, else copied and padded in `room`. Lanes
  // past the output's last column read into the next sample; their results are not used.
  Images<const float> sample_of(const float* src, std::int64_t n, float* room) const {
    const float* images = src + n * sample(src_);
    const Plane& image = src_.image;
    const bool has_padding = src_.top > 0 || src_.left > 0;
    const std::int64_t past = lanes_ == Lanes::channels ? 0 : src_.row - image.width;
    if (!has_padding && past <= (samples_ - 1 - n) * sample(src_))
      return {images, image.height * image.width, image.width};
    src_.fill(images, room);
    return readable(src_, room);
  }
  static std::int64_t taps_of(const Sizes& s) { return s.in_channels * s.kernel_height * s.kernel_width; }
  // The floats of a row of the weights as a correlation reads them.
  static std::int64_t row_of(const Sizes& s, Lanes lanes) {
    return lanes == Lanes::channels ? s.out_vectors() * kLanes : s.out_channels;
  }
  std::int64_t out_row() const { return row_of(sizes_, lanes_); }

  // The scratch begins with the padded input.
  void plan_scratch(bool training) {
    std::int64_t end = whole_vectors(src_.floats());
    const auto take = [&](std::int64_t floats) {
      const std::int64_t at = end;
      end += whole_vectors(floats);
      return at;
    };
    const auto positions = [](const Sizes& s, Lanes lanes) {
      return lanes == Lanes::channels ? s.out_vectors() * kLanes * s.height * s.width : 0;
    };
    const std::int64_t weights = taps_of(sizes_) * out_row(), vectors = sizes_.out_vectors() * kLanes;
    const bool patches = diff_lanes_ == Lanes::patches;
    const std::int64_t back = patches ? sizes_.kernel_height * sizes_.out_channels * patch_vectors(sizes_) * kLanes
                                      : taps_of(diff_sizes_) * row_of(diff_sizes_, diff_lanes_);
    positions_at_ = take(std::max(positions(sizes_, lanes_), diff_src_ ? positions(diff_sizes_, diff_lanes_) : 0));
    weights_at_ = take(std::max(weights, diff_src_ ? back : 0));
    bias_at_ = take(vectors);
    forward_floats_ = end;
    if (training) {
      diff_at_ = take(diff_.floats());
      masked_at_ = take(o_.relu ? sample(diff_) : 0);
      sums_at_ = take(lanes_ == Lanes::channels ? weights : weights * kLanes);
      if (diff_src_ && patches) {
        patches_at_ = take(sizes_.width * patch_floats(sizes_));
        row_at_ = take((sizes_.width + sizes_.kernel_width - 1) * sizes_.in_channels);
      }
      bias_sums_at_ = take(lanes_ == Lanes::channels ? vectors : o_.channels * kLanes);
    }
    backward_floats_ = end;
    plan_.scratch_bytes = static_cast<std::size_t>(end) * sizeof(float) + tensor::kAlignment;
  }

  // Correlates one sample's images; `positions` is scratch.
  void correlate(const Sizes& sizes, Lanes lanes, Images<const float> in, const float* weights, const float* bias,
                 bool relu, float* positions, float* out) const {
    const std::int64_t plane = sizes.height * sizes.width;
    if (lanes == Lanes::columns) {
      passes_.columns.correlate(sizes, in, weights, bias, relu, {out, plane, sizes.width});
      return;
    }
    passes_.channels.correlate(sizes, in, weights, bias, relu, positions);
    for (std::int64_t o = 0; o < sizes.out_channels; o += kLanes)
      transpose(positions + o * plane, kLanes, plane, std::min(kLanes, sizes.out_channels - o), out + o * plane, plane);
  }

  // One sample's input gradient.
  void input_gradient(const float* diff, const float* weights, float* patches, float* row, float* out) const {
    const Plane image = src_.image;
    for (std::int64_t y = 0; y < image.height; ++y) {
      passes_.patches.input_gradient(sizes_, diff, weights, src_.top + y, patches, row);
      transpose(row + src_.left * src_.channels, src_.channels, image.width, src_.channels, out + y * image.width,
                image.height * image.width);
    }
  }

  // Copies the weights into the order in which the input's gradient reads them.
  void rearrange_weights(const float* weights, float* to) const {
    const bool patches = diff_lanes_ == Lanes::patches;
    const std::int64_t in = sizes_.in_channels, out = sizes_.out_channels,
                       taps = sizes_.kernel_height * sizes_.kernel_width;
    const std::int64_t row = patches ? patch_vectors(sizes_) * kLanes : row_of(diff_sizes_, diff_lanes_);
    for (std::int64_t o = 0; o < out; ++o)
      for (std::int64_t i = 0; i < in; ++i)
        for (std::int64_t k = 0; k < taps; ++k, ++weights) {
          const std::int64_t ky = k / sizes_.kernel_width, kx = k % sizes_.kernel_width;
          to[patches ? (ky * out + o) * row + kx * in + i : (o * taps + taps - 1 - k) * row + i] = *weights;
        }
  }

  // The gradient of the ReLU's input.
  const float* relu_gradient(const float* gradient, const float* dst, float* to) const {
    for (std::int64_t i = 0; i < sample(diff_); ++i) to[i] = dst[i] > 0 ? gradient[i] : 0.0f;
    return to;
  }

  static void add_lanes(const float* lanes, std::int64_t count, float* to) {
    for (std::int64_t i = 0; i < count; ++i) to[i] = base::sum(base::load(lanes + i * kLanes));
  }

  ConvOptions o_;
  const narrow::Passes& passes_;
  bool diff_src_;
  std::int64_t samples_ = 0, border_ = 0;
  Sizes sizes_, diff_sizes_;  // of forward, and of the input's gradient
  Lanes lanes_ = Lanes::columns, diff_lanes_ = Lanes::columns;
  Padded src_, diff_;
  std::int64_t positions_at_ = 0, weights_at_ = 0, bias_at_ = 0, forward_floats_ = 0;
  std::int64_t diff_at_ = 0, masked_at_ = 0, sums_at_ = 0, bias_sums_at_ = 0, patches_at_ = 0, row_at_ = 0,
               backward_floats_ = 0;
};

}  // namespace

bool narrow_conv_fits(const ConvOptions& o) {
  for (std::size_t d = 0; d < o.kernel.size(); ++d)
    if (o.stride[d] != 1 || o.padding[d] >= o.kernel[d]) return false;
  return o.groups == 1;
}

bool narrow_conv_wins(const ConvOptions& o, const Shape& src, const Shape& out, base::Isa isa) {
  if (!narrow_conv_fits(o) || isa == base::Isa::generic) return false;  // slow without fma instructions
  const std::int64_t block = isa == base::Isa::avx512 ? 16 : 8;
  // Compares the fractions of lanes in use: this kernel's lanes run along a row, oneDNN's are channels. The factors
  // were measured; with AVX2 oneDNN is also slow at first layers.
  const double factor = isa == base::Isa::avx512 ? 1.5 : 1.1;
  const double columns = std::min(used_lanes(out[out.rank() - 1], block), used_lanes(src[src.rank() - 1], block));
  if (out[1] < block) return columns > factor * used_lanes(out[1], block);
  // oneDNN's gradient of few input channels leaves lanes unused. With few weights per output, copying the images costs
  // more than that.
  std::int64_t taps = src[1];
  for (const std::int64_t size : o.kernel) taps *= size;
  const std::int64_t patch = src[1] * o.kernel.back();
  return out[1] <= kLanes && taps >= kManyTaps && used_lanes(patch, block) > factor * used_lanes(src[1], block);
}

std::unique_ptr<Kernel> make_narrow_conv(const KernelRequest& request, const ConvOptions& options, const Shape& out) {
  return std::make_unique<NarrowConvKernel>(request, options, out);
}

}  // namespace trireme::ops
