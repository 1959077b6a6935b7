#include "ops/dense.h"

#include "base/error.h"
#include "ops/dense_reference.h"
#include "ops/onednn_weighted.h"

namespace trireme::ops {
namespace {

using Desc = dnnl::memory::desc;

class DenseOp : public Op {
 public:
  explicit DenseOp(DenseOptions options) : o_(options) {}

  std::string_view kind() const override { return "dense"; }

  Shape output(std::span<const Shape> src) const override {
    base::check(src.size() == 1, "dense takes one input, not {}", src.size());
    if (src[0].rank() != 2)
      base::user_error("a dense layer needs flat samples, got {}; put a flatten before it",
                       src[0].without_batch().text());
    return {src[0][0], o_.outputs};
  }

  std::vector<ParameterSpec> parameters(std::span<const Shape> src) const override {
    const std::int64_t inputs = src[0][1];
    std::vector<ParameterSpec> all{{"weight", {o_.outputs, inputs}, Role::weights, inputs, o_.outputs}};
    if (o_.bias) all.push_back({"bias", {o_.outputs}, Role::bias, inputs, o_.outputs});
    return all;
  }

  Cost cost(std::span<const Shape> src) const override {
    const auto n = static_cast<double>(src[0][0]), in = static_cast<double>(src[0][1]);
    const auto out = static_cast<double>(o_.outputs);
    return {2 * n * in * out, sizeof(float) * (n * (in + out) + in * out)};
  }

  std::unique_ptr<Kernel> compile(const KernelRequest& request) const override {
    const std::vector<Shape> shapes = request.shapes();
    const Shape out = output(shapes);
    WeightedSetup setup;
    setup.name = "dense";
    setup.what = "dense " + shapes[0].text() + " -> " + out.text();
    setup.weight_shape = {o_.outputs, shapes[0][1]};
    setup.bias = o_.bias;
    setup.bias_count = o_.outputs;
    setup.relu = o_.relu;
    setup.layouts = {{onednn::to_desc(Layout::plain(shapes[0])), onednn::to_desc(Layout::plain(out))}};
    WeightedMakers makers;
    makers.forward = [this](const Desc& src, const Desc& weights, const Desc& dst) {
      return forward(src, weights, dst);
    };
    makers.backward_data = [this](const Desc& src, const Desc& weights, const Desc& dst) {
      return backward_data(src, weights, dst);
    };
    makers.backward_weights = [this](const Desc& src, const Desc& weights, const Desc& dst) {
      return backward_weights(src, weights, dst);
    };
    return make_weighted(request, setup, makers);
  }

  OpPtr with_relu() const override {
    if (o_.relu) return nullptr;
    DenseOptions options = o_;
    options.relu = true;
    return std::make_shared<DenseOp>(options);
  }

  void reference_forward(Reference& r) const override { dense_reference_forward(o_, r); }
  void reference_backward(Reference& r) const override { dense_reference_backward(o_, r); }

 private:
  Desc bias_desc() const { return onednn::to_desc(Layout::plain({o_.outputs})); }

  MadePrimitive forward(const Desc& src, const Desc& weights, const Desc& dst) const {
    const auto prop = dnnl::prop_kind::forward_training;
    const auto desc = o_.bias ? dnnl::inner_product_forward::desc(prop, src, weights, bias_desc(), dst)
                              : dnnl::inner_product_forward::desc(prop, src, weights, dst);
    dnnl::primitive_attr attr = onednn::attributes();
    if (o_.relu) {
      dnnl::post_ops post;
      post.append_eltwise(1.0f, dnnl::algorithm::eltwise_relu, 0.0f, 0.0f);
      attr.set_post_ops(post);
    }
    const dnnl::inner_product_forward::primitive_desc pd(desc, attr, onednn::cpu(), true);
    if (!pd) return {};
    return {dnnl::inner_product_forward(pd),
            pd.src_desc(),
            pd.weights_desc(),
            pd.dst_desc(),
            pd.scratchpad_desc(),
            pd.impl_info_str()};
  }

  // oneDNN wants the forward descriptor as a hint; any valid one serves.
  dnnl::inner_product_forward::primitive_desc hint(const Desc& src, const Desc& weights, const Desc& dst) const {
    return {dnnl::inner_product_forward::desc(dnnl::prop_kind::forward_training, src,
                                              onednn::any_desc(onednn::shape_of(weights)), dst),
            onednn::attributes(), onednn::cpu()};
  }

  MadePrimitive backward_data(const Desc& src, const Desc& weights, const Desc& dst) const {
    const dnnl::inner_product_backward_data::primitive_desc pd(
        dnnl::inner_product_backward_data::desc(src, weights, dst), onednn::attributes(), onednn::cpu(),
        hint(src, weights, dst), true);
    if (!pd) return {};
    return {dnnl::inner_product_backward_data(pd),
            pd.diff_src_desc(),
            pd.weights_desc(),
            pd.diff_dst_desc(),
            pd.scratchpad_desc(),
            pd.impl_info_str()};
  }

  MadePrimitive backward_weights(const Desc& src, const Desc& weights, const Desc& dst) const {
    const auto desc = o_.bias ? dnnl::inner_product_backward_weights::desc(src, weights, bias_desc(), dst)
                              : dnnl::inner_product_backward_weights::desc(src, weights, dst);
    const dnnl::inner_product_backward_weights::primitive_desc pd(desc, onednn::attributes(), onednn::cpu(),
                                                                  hint(src, weights, dst), true);
    if (!pd) return {};
    return {dnnl::inner_product_backward_weights(pd),
            pd.src_desc(),
            pd.diff_weights_desc(),
            pd.diff_dst_desc(),
            pd.scratchpad_desc(),
            pd.impl_info_str()};
  }

  DenseOptions o_;
};

}  // namespace

OpPtr dense(DenseOptions options) {
  if (options.outputs < 1) base::user_error("a dense layer needs at least one output, got {}", options.outputs);
  return std::make_shared<DenseOp>(options);
}

}  // namespace trireme::ops
