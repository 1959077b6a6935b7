#include "ops/conv/norm_conv/norm_conv.h"

#include <algorithm>

#include "base/error.h"
#include "ops/conv/norm_conv/norm_conv_passes.h"
#include "ops/norm/norm_channels.h"
#include "tensor/buffer.h"

namespace trireme::ops {
namespace {

using normed::Norm;
using normed::Rows;

// Memory of one call.
struct Scratch {
  double *first, *second;  // sums per channel
  float *slope, *level;
  float* tile;
  float* diff_y;  // followed by the weights' gradient

  Scratch(std::byte* memory, std::int64_t padded, std::int64_t tile_floats)
      : first(reinterpret_cast<double*>(memory)),
        second(first + padded),
        slope(reinterpret_cast<float*>(second + padded)),
        level(slope + padded),
        tile(level + padded),
        diff_y(tile + tile_floats) {}
  static std::size_t bytes(std::int64_t padded, std::int64_t tile_and_gradients) {
    const auto per_channel = static_cast<std::size_t>(padded) * (2 * sizeof(double) + 2 * sizeof(float));
    return per_channel + static_cast<std::size_t>(tile_and_gradients) * sizeof(float);
  }
};

class NormConvKernel : public Kernel {
 public:
  NormConvKernel(const KernelRequest& request, const BatchNormOptions& norm, const Shape& out)
      : passes_(normed::passes(base::active_isa())),
        training_(request.training),
        sizes_{out[0] * out.count_from(2), request.src[0].shape[1], out[1]},
        channels_(norm, out[0], sizes_.rows) {
    base::check(sizes_.rows > 0, "batch norm has no values in {}", out.text());
    const Shape& src = request.src[0].shape;
    const std::int64_t offered = request.src[0].channel_row();
    row_ = offered != 0 ? offered : std::max(request.room, src[1]);
    plan_.src = {Layout::channels_last(src, row_)};
    plan_.adds_diff_src = true;
    positions_ = out.count_from(2);
    by_sample_ = positions_ >= kManyPositions;
    const bool blocked = by_sample_ && out[1] % passes_.block == 0;
    plan_.dst = blocked ? Layout::channels_blocked(out, passes_.block) : Layout::channels_last(out);
    plan_.weights.assign(4, Layout::plain({sizes_.in}));
    // Backward reads the weight in the live layout; forward reads its transpose, [in][out].
    const Layout weight = Layout::plain({sizes_.out, sizes_.in, 1, 1});
    base::check(request.weights.empty() || request.weights[4] == weight, "a norm with convolution wants plain weights");
    plan_.weights.push_back(weight);
    Layout turned = weight;
    turned.strides = {1, sizes_.out, sizes_.out, sizes_.out};
    plan_.derived = {{4, turned}};
    const std::int64_t padded = sizes_.padded_in();
    const std::int64_t gradients = training_ ? (sizes_.rows + sizes_.out) * sizes_.in : 0;
    plan_.scratch_bytes = Scratch::bytes(padded, sizes_.tile_floats() + gradients);
    (training_ ? plan_.workspace_bytes : plan_.scratch_bytes) += NormSaved::bytes(padded);
    if (training_) plan_.workspace_bytes += static_cast<std::size_t>(sizes_.in) * sizeof(Moments);
    plan_.knows_channels = training_;
  }

  std::string implementation() const override { return "batch norm + relu + conv 1x1 " + plan_.src[0].text(); }

  void forward(const KernelArgs& args, KernelState*, OarRun& run) const override {
    const std::int64_t padded = sizes_.padded_in();
    const Scratch s(args.scratch, padded, sizes_.tile_floats());
    const NormSaved saved(training_ ? saved_at(args) : end_of_scratch(args), padded);
    std::fill_n(saved.mean, 4 * padded, 0.0f);
    const Rows<const float> x{args.src[0], row_};
    if (training_)
      take_statistics(args, s, saved, x, run);
    else
      for (std::int64_t c = 0; c < sizes_.in; ++c) channels_.use_running(args, saved, c);
    for_each_part([&](const normed::Sizes& part, std::int64_t first, std::int64_t sample) {
      passes_.forward(part, {x.data + first * row_, row_}, {saved.mean, saved.a, saved.b}, args.derived[0],
                      blocks(args.dst + sample * positions_ * sizes_.out), s.tile);
    });
  }

  void backward(const KernelArgs& args, KernelState*, OarRun& run) const override {
    const std::int64_t padded = sizes_.padded_in();
    const Scratch s(args.scratch, padded, sizes_.tile_floats());
    const NormSaved saved(saved_at(args), padded);
    const Norm norm{saved.mean, saved.a, saved.b};
    const Rows<const float> x{args.src[0], row_};
    float* diff_weights = s.diff_y + sizes_.rows * sizes_.in;  // transposed, as in forward
    std::fill_n(s.first, 2 * padded, 0.0);
    std::fill_n(s.slope, 2 * padded, 0.0f);
    std::fill_n(diff_weights, sizes_.in * sizes_.out, 0.0f);
    for_each_part([&](const normed::Sizes& part, std::int64_t first, std::int64_t sample) {
      passes_.backward(part, {x.data + first * row_, row_}, norm, args.weights[4],
                       blocks(static_cast<const float*>(args.diff_dst) + sample * positions_ * sizes_.out),
                       {s.diff_y + first * sizes_.in, sizes_.in}, s.first, s.second, diff_weights, s.tile);
    });
    float* gradient = args.diff_weights[static_cast<std::size_t>(run.slot)][4];
    for (std::int64_t o = 0; o < sizes_.out; ++o)
      for (std::int64_t i = 0; i < sizes_.in; ++i) gradient[o * sizes_.in + i] = diff_weights[i * sizes_.out + o];
    for (std::int64_t c = 0; c < sizes_.in; ++c)
      channels_.gradients(args, run, saved, c, s.first[c], s.second[c], s.slope[c], s.level[c]);
    if (args.diff_src[0] == nullptr) return;
    passes_.make_diff_x(sizes_, x, {s.diff_y, sizes_.in}, norm, s.slope, s.level, args.add_diff_src,
                        {args.diff_src[0], row_});
  }

 private:
  // The workspace holds the channels' moments, then the values that backward needs.
  std::byte* saved_at(const KernelArgs& args) const {
    return args.workspace + static_cast<std::size_t>(sizes_.in) * sizeof(Moments);
  }

  // Computes the statistics of the channels for which no earlier kernel has them.
  void take_statistics(const KernelArgs& args, const Scratch& s, const NormSaved& saved, Rows<const float> x,
                       const OarRun& run) const {
    auto* moments = reinterpret_cast<Moments*>(args.workspace);
    const std::int64_t known = args.known_channels;
    std::copy_n(reinterpret_cast<const Moments*>(args.known), known, moments);
    const normed::Sizes rest{sizes_.rows, sizes_.in - known, sizes_.out};
    if (rest.in > 0) {
      std::fill_n(s.first, 2 * sizes_.padded_in(), 0.0);
      std::copy_n(x.data + known, rest.in, saved.mean);  // the first row as origin, which keeps the squares small
      passes_.statistics(rest, {x.data + known, row_}, saved.mean, s.first, s.second);
    }
    for (std::int64_t c = known; c < sizes_.in; ++c)
      moments[c] = channels_.moments(static_cast<double>(x.data[c]), s.first[c - known], s.second[c - known]);
    for (std::int64_t c = 0; c < sizes_.in; ++c) channels_.use(args, run, saved, c, moments[c]);
  }

  std::byte* end_of_scratch(const KernelArgs& args) const {
    return args.scratch + Scratch::bytes(sizes_.padded_in(), sizes_.tile_floats());
  }

  // Calls f(sizes, first row, first sample) per sample, as blocks of channels lie, if a sample has enough rows; else
  // once for all rows.
  template <class F>
  void for_each_part(const F& f) const {
    if (!by_sample_) return f(sizes_, 0, 0);
    const normed::Sizes part{positions_, sizes_.in, sizes_.out};
    for (std::int64_t sample = 0; sample * positions_ < sizes_.rows; ++sample) f(part, sample * positions_, sample);
  }
  template <class T>
  normed::Blocks<T> blocks(T* data) const {
    if (plan_.dst.inner.empty()) return {data, sizes_.out, sizes_.out, 0};
    return {data, passes_.block, passes_.block, positions_ * passes_.block};
  }

  static constexpr std::int64_t kManyPositions = 16;

  const normed::Passes& passes_;
  bool training_;
  normed::Sizes sizes_;
  std::int64_t row_ = 0;  // distance between rows of the input
  std::int64_t positions_ = 0;
  bool by_sample_ = false;
  NormChannels channels_;
};

class NormConvOp : public Op {
 public:
  NormConvOp(const BatchNormOptions& norm, OpPtr conv) : o_(norm), norm_(batch_norm(norm)), conv_(std::move(conv)) {}

  std::string_view kind() const override { return "norm_conv"; }
  double statistics_momentum() const override { return o_.momentum; }
  bool reads_rows() const override { return true; }
  Shape output(std::span<const Shape> src) const override { return conv_->output(src); }
  std::vector<ParameterSpec> parameters(std::span<const Shape> src) const override {
    std::vector<ParameterSpec> all = norm_->parameters(src);
    for (ParameterSpec& spec : conv_->parameters(src)) all.push_back(std::move(spec));
    return all;
  }
  Cost cost(std::span<const Shape> src) const override {
    const Cost norm = norm_->cost(src), conv = conv_->cost(src);
    return {norm.flops + conv.flops, conv.bytes};
  }
  std::unique_ptr<Kernel> compile(const KernelRequest& request) const override {
    return std::make_unique<NormConvKernel>(request, o_, output(request.shapes()));
  }

  void reference_forward(Reference& r) const override {
    Reference norm = norm_of(r);
    norm_->reference_forward(norm);
    Reference conv = conv_of(r, norm);
    conv_->reference_forward(conv);
    r.dst = conv.dst;
    std::copy_n(norm.diff_weights.begin(), 4, r.diff_weights.begin());
  }
  void reference_backward(Reference& r) const override {
    Reference norm = norm_of(r);
    norm_->reference_forward(norm);
    Reference conv = conv_of(r, norm);
    conv_->reference_forward(conv);
    conv_->reference_backward(conv);
    norm.diff_dst = conv.diff_src[0];
    norm_->reference_backward(norm);
    r.diff_src = norm.diff_src;
    std::copy_n(norm.diff_weights.begin(), 4, r.diff_weights.begin());
    r.diff_weights[4] = conv.diff_weights[0];
  }

 private:
  Reference norm_of(const Reference& r) const {
    Reference norm = r;
    norm.weights.resize(4);
    norm.diff_weights.resize(4);
    norm.dst.assign(r.src[0].size(), 0.0);
    return norm;
  }
  Reference conv_of(const Reference& r, const Reference& norm) const {
    Reference conv = r;
    conv.src = {norm.dst};
    conv.diff_src = {std::vector<double>(norm.dst.size())};
    conv.weights = {r.weights[4]};
    conv.diff_weights = {std::vector<double>(r.weights[4].size())};
    return conv;
  }

  BatchNormOptions o_;
  OpPtr norm_, conv_;
};

}  // namespace

OpPtr norm_conv(const BatchNormOptions& norm, OpPtr conv) {
  BatchNormOptions with_relu = norm;
  with_relu.relu = true;
  return std::make_shared<NormConvOp>(with_relu, std::move(conv));
}

}  // namespace trireme::ops
