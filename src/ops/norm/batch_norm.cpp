#include "ops/norm/batch_norm.h"

#include <numeric>

#include "base/error.h"
#include "ops/core/elementwise.h"
#include "ops/core/op_options.h"
#include "ops/core/op_registry.h"
#include "ops/norm/batch_norm_passes.h"
#include "ops/norm/batch_norm_reference.h"
#include "ops/norm/norm_channels.h"

namespace trireme::ops {
namespace {

// The memory layout of the channels: groups of `block` channels, each a set of chunks (batch_norm_passes.h).
struct Geometry {
  std::int64_t channels = 0;
  std::int64_t groups = 0;
  std::int64_t block = 0;
  std::int64_t group_stride = 0;
  std::int64_t period = 0;  // floats of the per-period arrays: a multiple of 16
  Chunks chunks;

  explicit Geometry(const Layout& layout) : channels(layout.shape[1]) {
    const std::int64_t samples = layout.shape[0], spatial = layout.shape.count_from(2), padded = layout.padded[1];
    // With one spatial position every layout consists of rows of all channels.
    block = spatial == 1 ? padded : layout.channel_block();
    groups = padded / block;
    group_stride = spatial * block;
    chunks.count = groups == 1 ? 1 : samples;
    chunks.stride = groups * group_stride;
    chunks.length = groups == 1 ? samples * group_stride : group_stride;
    chunks.period = block / std::gcd(block, kWide);
    const std::int64_t used = (chunks.length + kWide - 1) / kWide;
    period = kWide * (chunks.period == 1 ? 1 : std::min(chunks.period, used));
  }

  std::int64_t first_channel(std::int64_t group) const { return group * block; }
  // Channels of a group that are not padding.
  std::int64_t true_channels(std::int64_t group) const { return std::min(block, channels - first_channel(group)); }
};

// Arrays of one period in the kernel's scratch.
struct Scratch {
  double *first, *second;               // sums
  float *mean, *a, *b, *slope, *level;  // parameters; `mean` holds the origin while statistics are computed

  Scratch(std::byte* memory, std::int64_t period)
      : first(reinterpret_cast<double*>(memory)),
        second(first + period),
        mean(reinterpret_cast<float*>(second + period)),
        a(mean + period),
        b(a + period),
        slope(b + period),
        level(slope + period) {}
  static std::size_t bytes(std::int64_t period) {
    return static_cast<std::size_t>(period) * (2 * sizeof(double) + 5 * sizeof(float));
  }
};

class BatchNormKernel : public Kernel {
 public:
  BatchNormKernel(const KernelRequest& request, const BatchNormOptions& options)
      : o_(options),
        training_(request.training),
        geometry_(channel_layout(request.src[0])),
        channels_(options, request.src[0].shape[0], values_of(request.src[0].shape)) {
    const Layout layout = channel_layout(request.src[0]);
    base::check(values_of(layout.shape) > 0, "batch norm has no values in {}", layout.shape.text());
    plan_.src.assign(request.src.size(), layout);
    plan_.dst = layout;
    plan_.weights.assign(4, Layout::plain({geometry_.channels}));
    plan_.scratch_bytes = Scratch::bytes(geometry_.period);
    (training_ ? plan_.workspace_bytes : plan_.scratch_bytes) += NormSaved::bytes(geometry_.channels);
    plan_.backward_needs_dst = o_.relu && o_.add;
    plan_.forward_in_place = !training_;
    plan_.backward_in_place = true;
  }

  std::string implementation() const override {
    return "batch norm" + std::string(o_.add ? " + add" : "") + (o_.relu ? " + relu " : " ") + plan_.dst.text();
  }

  void forward(const KernelArgs& args, KernelState*, OarRun& run) const override {
    // Training keeps them in the workspace from forward to backward; inference in the scratch.
    const NormSaved saved(training_ ? args.workspace : args.scratch + Scratch::bytes(geometry_.period),
                          geometry_.channels);
    const Scratch scratch(args.scratch, geometry_.period);
    for (std::int64_t group = 0; group < geometry_.groups; ++group) {
      if (training_)
        take_statistics(args, saved, scratch, group, run);
      else
        use_running_statistics(args, saved, group);
      const std::int64_t channel = geometry_.first_channel(group);
      expand(group, saved.a + channel, scratch.a);
      expand(group, saved.b + channel, scratch.b);
      const std::int64_t from = group * geometry_.group_stride;
      const float* more = o_.add ? args.src[1] + from : nullptr;
      const auto map = [&]<bool kRelu, bool kAdd>() {
        using Map = ForwardMap<kRelu, kAdd>;
        base::dispatch<MapPass<Map>>(Map{args.src[0] + from, more, args.dst + from, scratch.a, scratch.b},
                                     geometry_.chunks);
      };
      if (o_.relu)
        o_.add ? map.operator()<true, true>() : map.operator()<true, false>();
      else
        o_.add ? map.operator()<false, true>() : map.operator()<false, false>();
    }
  }

  void backward(const KernelArgs& args, KernelState*, OarRun& run) const override {
    float* masked = o_.add ? args.diff_src[1] : nullptr;
    if (masked != nullptr && !o_.relu) std::copy_n(args.diff_dst.floats(), plan_.dst.elements(), masked);
    for (std::int64_t group = 0; group < geometry_.groups; ++group) {
      if (!o_.relu)
        backward_group<Mask::none, false>(args, group, run);
      else if (!o_.add)
        backward_group<Mask::computed, false>(args, group, run);
      else if (masked == nullptr)
        backward_group<Mask::output, false>(args, group, run);
      else
        backward_group<Mask::output, true>(args, group, run);
    }
  }

 private:
  static std::int64_t values_of(const Shape& shape) { return shape[0] * shape.count_from(2); }  // per channel

  // Copies the values of a group's channels to every position of the period; padding channels get 0.
  void expand(std::int64_t group, const float* values, float* per_position) const {
    const std::int64_t channels = geometry_.true_channels(group);
    for (std::int64_t row = 0; row < geometry_.period; row += geometry_.block) {
      const std::int64_t width = std::min(geometry_.block, geometry_.period - row);
      const std::int64_t copied = std::min(width, channels);
      std::copy_n(values, copied, per_position + row);
      std::fill_n(per_position + row + copied, width - copied, 0.0f);
    }
  }

  // Adds up the positions of each channel in ascending order; then the first `block` sums are complete.
  void fold(double* sums) const {
    for (std::int64_t row = geometry_.block; row < geometry_.period; row += geometry_.block)
      for (std::int64_t i = 0; i < std::min(geometry_.block, geometry_.period - row); ++i) sums[i] += sums[row + i];
  }

  template <class Terms>
  void sum(const Terms& terms, const Scratch& scratch) const {
    std::fill_n(scratch.first, 2 * geometry_.period, 0.0);
    base::dispatch<SumPass<Terms>>(terms, geometry_.chunks, scratch.first, scratch.second);
    fold(scratch.first);
    fold(scratch.second);
  }

  // Mean and variance in one pass over distances from the channel's first value, which keeps the squares small when the
  // mean is far from 0.
  void take_statistics(const KernelArgs& args, const NormSaved& saved, const Scratch& scratch, std::int64_t group,
                       const OarRun& run) const {
    const float* x = args.src[0] + group * geometry_.group_stride;
    const std::int64_t first_channel = geometry_.first_channel(group), channels = geometry_.true_channels(group);
    expand(group, x, scratch.mean);  // the group's first row is the first value of each channel
    sum(StatisticsTerms{x, scratch.mean}, scratch);
    for (std::int64_t i = 0; i < channels; ++i)
      channels_.use(args, run, saved, first_channel + i,
                    channels_.moments(static_cast<double>(x[i]), scratch.first[i], scratch.second[i]));
  }

  void use_running_statistics(const KernelArgs& args, const NormSaved& saved, std::int64_t group) const {
    const std::int64_t first_channel = geometry_.first_channel(group);
    for (std::int64_t c = first_channel; c < first_channel + geometry_.true_channels(group); ++c)
      channels_.use_running(args, saved, c);
  }

  template <Mask kMask, bool kWrite>
  void backward_group(const KernelArgs& args, std::int64_t group, const OarRun& run) const {
    const NormSaved saved(args.workspace, geometry_.channels);
    const Scratch s(args.scratch, geometry_.period);
    const std::int64_t from = group * geometry_.group_stride;
    const float* x = args.src[0] + from;
    const float* diff_y = args.diff_dst + from;
    const float* y = kMask == Mask::output ? args.dst + from : nullptr;
    float* masked = kWrite ? args.diff_src[1] + from : nullptr;
    const std::int64_t first_channel = geometry_.first_channel(group), channels = geometry_.true_channels(group);
    expand(group, saved.mean + first_channel, s.mean);
    expand(group, saved.a + first_channel, s.a);
    expand(group, saved.b + first_channel, s.b);
    sum(GradientTerms<kMask, kWrite>{x, diff_y, y, masked, s.mean, s.a, s.b}, s);

    for (std::int64_t i = 0; i < channels; ++i)
      channels_.gradients(args, run, saved, first_channel + i, s.first[i], s.second[i], s.slope[i], s.level[i]);
    if (args.diff_src[0] == nullptr) return;
    repeat(group, s.slope);
    repeat(group, s.level);
    float* diff_x = args.diff_src[0] + from;
    const auto map = [&]<Mask kLeft>(const float* gradient) {
      using Map = BackwardMap<kLeft>;
      base::dispatch<MapPass<Map>>(Map{x, gradient, y, diff_x, s.mean, s.a, s.b, s.slope, s.level}, geometry_.chunks);
    };
    if constexpr (kWrite)
      map.template operator()<Mask::none>(masked);
    else
      map.template operator()<kMask>(diff_y);
  }

  // Like expand(), but the values are the first positions of the array itself.
  void repeat(std::int64_t group, float* per_position) const {
    std::fill(per_position + geometry_.true_channels(group), per_position + geometry_.block, 0.0f);
    for (std::int64_t i = geometry_.block; i < geometry_.period; ++i)
      per_position[i] = per_position[i - geometry_.block];
  }

  BatchNormOptions o_;
  bool training_;
  Geometry geometry_;
  NormChannels channels_;
};

class BatchNormOp : public Op {
 public:
  explicit BatchNormOp(const BatchNormOptions& options) : o_(options) {}

  std::string_view kind() const override { return "batch_norm"; }
  std::string options_text() const override {
    const BatchNormOptions otherwise;
    OptionsText text;
    text.number("epsilon", o_.epsilon, otherwise.epsilon);
    text.number("momentum", o_.momentum, otherwise.momentum);
    text.flag("relu", o_.relu, false);
    text.flag("add", o_.add, false);
    return text.text();
  }
  double statistics_momentum() const override { return o_.momentum; }
  const BatchNormOptions& options() const { return o_; }

  Shape output(std::span<const Shape> src) const override {
    const std::size_t wanted = o_.add ? 2 : 1;
    base::check(src.size() == wanted, "batch norm takes {} inputs, not {}", wanted, src.size());
    if (src[0].rank() < 2 || src[0].rank() > 4)
      base::user_error("batch norm needs samples of 1 to 3 sizes, channels first, got {}",
                       src[0].without_batch().text());
    if (o_.add && !(src[0] == src[1]))
      base::user_error("batch norm of {} cannot add a value of {}; both need the same sizes",
                       src[0].without_batch().text(), src[1].without_batch().text());
    return src[0];
  }

  std::vector<ParameterSpec> parameters(std::span<const Shape> src) const override {
    const Shape shape{src[0][1]};
    return {{"weight", shape, Role::scale},
            {"bias", shape, Role::shift},
            {"running_mean", shape, Role::running_mean},
            {"running_var", shape, Role::running_variance}};
  }

  Cost cost(std::span<const Shape> src) const override {
    const auto count = static_cast<double>(src[0].count());
    const double passes = o_.add ? 3 : 2;
    return {count * (5 + (o_.add ? 1 : 0) + (o_.relu ? 1 : 0)),
            sizeof(float) * (passes * count + 4 * static_cast<double>(src[0][1]))};
  }

  std::unique_ptr<Kernel> compile(const KernelRequest& request) const override {
    output(request.shapes());
    return std::make_unique<BatchNormKernel>(request, o_);
  }

  OpPtr with_relu() const override {
    if (o_.relu) return nullptr;
    BatchNormOptions options = o_;
    options.relu = true;
    return std::make_shared<BatchNormOp>(options);
  }
  OpPtr with_add() const override {
    if (o_.relu || o_.add) return nullptr;
    BatchNormOptions options = o_;
    options.add = true;
    return std::make_shared<BatchNormOp>(options);
  }

  void reference_forward(Reference& r) const override { batch_norm_reference_forward(o_, r); }
  void reference_backward(Reference& r) const override { batch_norm_reference_backward(o_, r); }

 private:
  BatchNormOptions o_;
};

}  // namespace

OpPtr batch_norm(BatchNormOptions options) {
  if (!(options.epsilon > 0)) base::user_error("batch norm needs an epsilon above 0, got {}", options.epsilon);
  if (!(options.momentum >= 0 && options.momentum <= 1))
    base::user_error("batch norm needs a momentum from 0 to 1, got {}", options.momentum);
  return std::make_shared<BatchNormOp>(options);
}

OpRow batch_norm_row() {
  return {
      .name = "batch_norm",
      .summary = "normalises each channel, then scales and shifts it; statistics per oar, running ones in evaluation",
      .options = {{"epsilon", "1e-05", "added to the variance"},
                  {"momentum", "0.1", "weight of the new statistics in the running ones"},
                  {"relu", "no|yes", "apply a ReLU to the result"},
                  {"add", "no|yes", "add a second input before the ReLU"}},
      .make = [](base::Spec& spec) {
        const BatchNormOptions otherwise;
        return batch_norm({.epsilon = spec.number("epsilon", otherwise.epsilon),
                           .momentum = spec.number("momentum", otherwise.momentum),
                           .relu = spec.flag("relu", false),
                           .add = spec.flag("add", false)});
      }};
}

const BatchNormOptions* batch_norm_options(const Op& op) {
  const auto* norm = dynamic_cast<const BatchNormOp*>(&op);
  return norm == nullptr ? nullptr : &norm->options();
}

}  // namespace trireme::ops
