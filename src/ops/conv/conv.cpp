#include "ops/conv/conv.h"

#include <algorithm>
#include <array>

#include "base/error.h"
#include "ops/conv/conv_choice.h"
#include "ops/conv/conv_reference.h"
#include "ops/conv/direct/onednn_weighted.h"
#include "ops/conv/narrow/narrow_conv.h"
#include "ops/conv/norm_conv/norm_conv.h"
#include "ops/conv/small_map/small_map_conv.h"
#include "ops/conv/toom_cook/toom_cook.h"
#include "ops/conv/winograd/winograd.h"
#include "ops/core/op_options.h"
#include "ops/core/op_registry.h"

namespace trireme::ops {
namespace {

using Desc = dnnl::memory::desc;
using Dims = dnnl::memory::dims;

class ConvOp : public Op {
 public:
  explicit ConvOp(ConvOptions options) : o_(std::move(options)) {}

  std::string_view kind() const override { return "conv"; }

  std::string options_text() const override {
    const std::size_t spatial = o_.kernel.size();
    OptionsText text;
    text.integer("channels", o_.channels, 0);
    text.add("kernel", sizes_text(o_.kernel));
    text.sizes("stride", o_.stride, std::vector<std::int64_t>(spatial, 1));
    text.sizes("padding", o_.padding, std::vector<std::int64_t>(spatial, 0));
    text.integer("groups", o_.groups, 1);
    text.flag("bias", o_.bias, true);
    text.flag("relu", o_.relu, false);
    if (o_.algorithm) text.add("algorithm", *o_.algorithm == ConvAlgorithm::winograd ? kWinograd : kDirect);
    return text.text();
  }

  Shape output(std::span<const Shape> src) const override {
    if (src.size() != 1) base::user_error("conv takes one input, not {}", src.size());
    const Shape& in = src[0];
    const int spatial = static_cast<int>(o_.kernel.size());
    if (in.rank() != spatial + 2)
      base::user_error("a {}-D convolution needs samples of {} sizes, got {}", spatial, spatial + 1,
                       in.without_batch().text());
    if (in[1] % o_.groups != 0 || o_.channels % o_.groups != 0)
      base::user_error("{} groups must divide {} input and {} output channels", o_.groups, in[1], o_.channels);
    Shape out{in[0], o_.channels};
    std::vector<std::int64_t> sizes(out.sizes().begin(), out.sizes().end());
    for (int d = 0; d < spatial; ++d) {
      const auto i = static_cast<std::size_t>(d);
      const std::int64_t padded = in[d + 2] + 2 * o_.padding[i];
      if (o_.kernel[i] > padded)
        base::user_error("the kernel ({}) is larger than its padded input ({}); use a larger image or less pooling",
                         o_.kernel[i], padded);
      sizes.push_back((padded - o_.kernel[i]) / o_.stride[i] + 1);
    }
    return Shape(std::move(sizes));
  }

  std::vector<ParameterSpec> parameters(std::span<const Shape> src) const override {
    std::vector<std::int64_t> sizes{o_.channels, src[0][1] / o_.groups};
    sizes.insert(sizes.end(), o_.kernel.begin(), o_.kernel.end());
    const Shape weight{std::vector<std::int64_t>(sizes)};
    const std::int64_t fan_in = weight.count_from(1);
    const std::int64_t fan_out = o_.channels / o_.groups * weight.count_from(2);
    std::vector<ParameterSpec> all{{"weight", weight, Role::weights, fan_in, fan_out}};
    if (o_.bias) all.push_back({"bias", {o_.channels}, Role::bias, fan_in, fan_out});
    return all;
  }

  Cost cost(std::span<const Shape> src) const override {
    const Shape out = output(src);
    const auto weight = static_cast<double>(parameters(src)[0].shape.count());
    const double per_output = 2.0 * weight / static_cast<double>(o_.channels);
    return {per_output * static_cast<double>(out.count()),
            sizeof(float) * (static_cast<double>(src[0].count() + out.count()) + weight)};
  }

  std::unique_ptr<Kernel> compile(const KernelRequest& request) const override {
    const std::vector<Shape> shapes = request.shapes();
    const Shape out = output(shapes);
    const std::string algorithm = choose_algorithm(o_, request, choices(request.shapes()));
    if (algorithm == kNarrow) return make_narrow_conv(request, o_, out);
    if (algorithm == kSmallMap) return make_small_map_conv(request, o_, out);
    if (algorithm == kToomCook) return make_toom_cook(request, o_, out);
    if (algorithm == kWinograd)
      return make_winograd(request, {out, parameters(shapes)[0].shape, o_.padding[0], o_.padding[1], o_.bias, o_.relu},
                           base::active_isa());
    WeightedSetup setup;
    setup.name = fmt::format("conv stride {} padding {}", Shape(o_.stride).text(), Shape(o_.padding).text());
    setup.what = "conv " + shapes[0].text() + " -> " + out.text();
    setup.weight_shape = grouped(parameters(shapes)[0].shape);
    setup.bias = o_.bias;
    setup.bias_count = o_.channels;
    setup.relu = o_.relu;
    setup.layouts = layouts(request.src[0], out);
    WeightedMakers makers;
    makers.forward = [this](const Desc& src, const Desc& weights, const Desc& dst) {
      return forward(src, weights, dst);
    };
    makers.backward_data = [this](const Desc& src, const Desc& weights, const Desc& dst) {
      return backward<dnnl::convolution_backward_data>(src, weights, dst, false);
    };
    makers.backward_weights = [this](const Desc& src, const Desc& weights, const Desc& dst, bool bias) {
      return backward<dnnl::convolution_backward_weights>(src, weights, dst, bias);
    };
    return make_weighted(request, setup, makers);
  }

  OpPtr with_relu() const override {
    if (o_.relu) return nullptr;
    ConvOptions options = o_;
    options.relu = true;
    return std::make_shared<ConvOp>(options);
  }

  KernelChoices choices(std::span<const Shape> src) const override {
    return conv_choices(o_, src[0], output(src), base::active_isa());
  }

  OpPtr with_norm(const Op& norm) const override {
    const BatchNormOptions* options = batch_norm_options(norm);
    const std::vector<std::int64_t> ones{1, 1}, zeros{0, 0};
    if (options == nullptr || !options->relu || options->add) return nullptr;
    if (o_.kernel != ones || o_.stride != ones || o_.padding != zeros || o_.groups != 1 || o_.bias || o_.relu)
      return nullptr;
    return norm_conv(*options, conv(o_));
  }

  void reference_forward(Reference& r) const override { conv_reference_forward(o_, output(r.shapes), r); }
  void reference_backward(Reference& r) const override { conv_reference_backward(o_, output(r.shapes), r); }

 private:
  Shape grouped(const Shape& weight) const {
    if (o_.groups == 1) return weight;
    std::vector<std::int64_t> sizes{o_.groups, weight[0] / o_.groups};
    for (int d = 1; d < weight.rank(); ++d) sizes.push_back(weight[d]);
    return Shape(std::move(sizes));
  }

  // Layouts in order of preference: channels-last where the channels fill no vector blocks or the input comes so, else
  // oneDNN's own choice; then what serves the small channel counts for which that has no fast gradient.
  std::vector<std::pair<Desc, Desc>> layouts(const Layout& src, const Shape& out) const {
    const std::pair<Desc, Desc> last{onednn::to_desc(Layout::channels_last(src.shape)),
                                     onednn::to_desc(Layout::channels_last(out))};
    const std::pair<Desc, Desc> any{onednn::any_desc(src.shape), onednn::any_desc(out)};
    const std::pair<Desc, Desc> plain{onednn::to_desc(Layout::plain(src.shape)), onednn::to_desc(Layout::plain(out))};
    const bool last_offered = !src.is_plain() && src.inner.empty();
    const bool odd = out[1] % 8 != 0 && out[1] > 8;
    if (last_offered || odd) return {last, any, plain};
    return {any, last, plain};
  }

  Dims strides() const { return Dims(o_.stride.begin(), o_.stride.end()); }
  Dims padding() const { return Dims(o_.padding.begin(), o_.padding.end()); }
  Desc bias_desc() const { return onednn::to_desc(Layout::plain({o_.channels})); }

  static constexpr auto kAlgorithm = dnnl::algorithm::convolution_direct;

  // A primitive, or an empty one when oneDNN has none for these layouts.
  MadePrimitive forward(const Desc& src, const Desc& weights, const Desc& dst) const {
    const auto prop = dnnl::prop_kind::forward_training;
    const auto desc =
        o_.bias ? dnnl::convolution_forward::desc(prop, kAlgorithm, src, weights, bias_desc(), dst, strides(),
                                                  padding(), padding())
                : dnnl::convolution_forward::desc(prop, kAlgorithm, src, weights, dst, strides(), padding(), padding());
    dnnl::primitive_attr attr = onednn::attributes();
    if (o_.relu) {
      dnnl::post_ops post;
      post.append_eltwise(1.0f, dnnl::algorithm::eltwise_relu, 0.0f, 0.0f);
      attr.set_post_ops(post);
    }
    const dnnl::convolution_forward::primitive_desc pd(desc, attr, onednn::cpu(), true);
    if (!pd) return {};
    return {dnnl::convolution_forward(pd), pd.src_desc(),     pd.weights_desc(), pd.dst_desc(),
            pd.scratchpad_desc(),          pd.impl_info_str()};
  }

  template <class Primitive>
  MadePrimitive backward(const Desc& src, const Desc& weights, const Desc& dst, bool bias) const {
    // oneDNN wants the forward descriptor as a hint; any valid one serves.
    const dnnl::convolution_forward::primitive_desc hint(
        dnnl::convolution_forward::desc(dnnl::prop_kind::forward_training, kAlgorithm, src,
                                        onednn::any_desc(onednn::shape_of(weights)), dst, strides(), padding(),
                                        padding()),
        onednn::attributes(), onednn::cpu());
    if constexpr (std::is_same_v<Primitive, dnnl::convolution_backward_data>) {
      const typename Primitive::primitive_desc pd(
          typename Primitive::desc(kAlgorithm, src, weights, dst, strides(), padding(), padding()),
          onednn::attributes(), onednn::cpu(), hint, true);
      if (!pd) return {};
      return {Primitive(pd),      pd.diff_src_desc(),   pd.weights_desc(),
              pd.diff_dst_desc(), pd.scratchpad_desc(), pd.impl_info_str()};
    } else {
      const auto desc =
          bias ? typename Primitive::desc(kAlgorithm, src, weights, bias_desc(), dst, strides(), padding(), padding())
               : typename Primitive::desc(kAlgorithm, src, weights, dst, strides(), padding(), padding());
      const typename Primitive::primitive_desc pd(desc, onednn::attributes(), onednn::cpu(), hint, true);
      if (!pd) return {};
      return {Primitive(pd),      pd.src_desc(),        pd.diff_weights_desc(),
              pd.diff_dst_desc(), pd.scratchpad_desc(), pd.impl_info_str()};
    }
  }

  ConvOptions o_;
};

std::optional<ConvAlgorithm> read_algorithm(base::Spec& spec) {
  const std::string name = spec.word("algorithm", "auto");
  if (name == kDirect) return ConvAlgorithm::direct;
  if (name == kWinograd) return ConvAlgorithm::winograd;
  if (name != "auto")
    base::user_error("op option conv:algorithm is '{}', expected auto, {} or {}", name, kDirect, kWinograd);
  return std::nullopt;
}

}  // namespace

OpPtr conv(ConvOptions options) {
  if (options.stride.empty()) options.stride.assign(options.kernel.size(), 1);
  if (options.padding.empty()) options.padding.assign(options.kernel.size(), 0);
  const std::size_t spatial = options.kernel.size();
  if (spatial < 1 || spatial > 2 || options.stride.size() != spatial || options.padding.size() != spatial)
    base::user_error("a convolution needs 1 or 2 kernel sizes and as many strides and paddings, got {}, {} and {}",
                     spatial, options.stride.size(), options.padding.size());
  for (std::size_t d = 0; d < spatial; ++d)
    if (options.kernel[d] < 1 || options.stride[d] < 1 || options.padding[d] < 0)
      base::user_error("a convolution with kernel {}, stride {} and padding {} is impossible", options.kernel[d],
                       options.stride[d], options.padding[d]);
  if (options.channels < 1 || options.groups < 1)
    base::user_error("a convolution needs output channels and groups of at least 1, got {} and {}", options.channels,
                     options.groups);
  return std::make_shared<ConvOp>(std::move(options));
}

OpRow conv_row() {
  return {.name = "conv",
          .summary = "convolution over one or two spatial sizes, zero padding on both sides",
          .options = {{"channels", "N", "output channels"},
                      {"kernel", "SIZES", "3x3, or 3 for one spatial size"},
                      {"stride", "1", "sizes, or one number for all"},
                      {"padding", "0", "sizes, or one number for all"},
                      {"groups", "1", "groups of channels that are convolved separately"},
                      {"bias", "yes|no", "add a trained bias"},
                      {"relu", "no|yes", "apply a ReLU to the result"},
                      {"algorithm", "auto|direct|winograd", "auto: by shape and instruction set; direct: oneDNN's"}},
          .make = [](base::Spec& spec) {
            ConvOptions options{.channels = required_integer(spec, "channels"),
                                .kernel = required_sizes(spec, "kernel"),
                                .groups = spec.integer("groups", 1),
                                .bias = spec.flag("bias", true),
                                .relu = spec.flag("relu", false),
                                .algorithm = read_algorithm(spec)};
            options.stride = optional_sizes(spec, "stride", options.kernel.size());
            options.padding = optional_sizes(spec, "padding", options.kernel.size());
            return conv(std::move(options));
          }};
}

}  // namespace trireme::ops
