#include "ops/pool/pool.h"

#include "base/error.h"
#include "ops/core/elementwise.h"
#include "ops/core/onednn.h"
#include "ops/core/op_options.h"
#include "ops/core/op_registry.h"
#include "ops/pool/pair_pool.h"
#include "ops/pool/pool_reference.h"
#include "ops/vector/relu_mask.h"

namespace trireme::ops {
namespace {

using Dims = dnnl::memory::dims;

// Option values: the kernel of a global pool, and a stride equal to the kernel.
constexpr const char *kAll = "all", *kOwn = "kernel";

struct PoolState : KernelState {
  onednn::BoundPrimitive forward, backward;
};

class PoolKernel : public Kernel {
 public:
  PoolKernel(const KernelRequest& request, const PoolOptions& o, PoolKind kind, const Shape& out)
      : threads_(request.threads), relu_(o.relu), backward_wanted_(request.training && request.diff_src[0]) {
    const Layout& offered = request.src[0];
    const Layout src = channel_layout(offered);
    const Layout dst = same_form(src, out);
    src_ = onednn::to_desc(src);
    dst_ = onednn::to_desc(dst);
    const auto algorithm = kind == PoolKind::max ? dnnl::algorithm::pooling_max
                           : o.count_padding     ? dnnl::algorithm::pooling_avg_include_padding
                                                 : dnnl::algorithm::pooling_avg_exclude_padding;
    const Dims kernel(o.kernel.begin(), o.kernel.end()), stride(o.stride.begin(), o.stride.end());
    // The shape rule drops positions that do not fill a whole window: less padding on the far side.
    const Dims near(o.padding.begin(), o.padding.end());
    Dims far = near;
    for (std::size_t d = 0; d < far.size(); ++d) {
      const int s = static_cast<int>(d) + 2;
      far[d] = (out[s] - 1) * stride[d] + kernel[d] - offered.shape[s] - near[d];
    }
    onednn::create(threads_, "pooling", [&] {
      const auto prop = request.training ? dnnl::prop_kind::forward_training : dnnl::prop_kind::forward_inference;
      const dnnl::pooling_forward::primitive_desc forward(
          dnnl::pooling_forward::desc(prop, algorithm, src_, dst_, stride, kernel, near, far), onednn::attributes(),
          onednn::cpu());
      forward_ = dnnl::pooling_forward(forward);
      forward_scratch_ = forward.scratchpad_desc();
      implementation_ =
          fmt::format("{} {} stride {} padding {} {}", kind == PoolKind::max ? "max" : "average",
                      Shape(o.kernel).text(), Shape(o.stride).text(), Shape(o.padding).text(), forward.impl_info_str());
      has_workspace_ = kind == PoolKind::max && request.training;
      if (has_workspace_) workspace_ = forward.workspace_desc();
      if (!backward_wanted_) return;
      const dnnl::pooling_backward::primitive_desc backward(
          dnnl::pooling_backward::desc(algorithm, src_, dst_, stride, kernel, near, far), onednn::attributes(),
          onednn::cpu(), forward);
      backward_ = dnnl::pooling_backward(backward);
      backward_scratch_ = backward.scratchpad_desc();
      implementation_ += std::string(" | ") + backward.impl_info_str();
    });
    plan_.src = {src};
    plan_.dst = dst;
    plan_.workspace_bytes = has_workspace_ ? workspace_.get_size() : 0;
    plan_.scratch_bytes = std::max(forward_scratch_.get_size(), backward_wanted_ ? backward_scratch_.get_size() : 0);
    plan_.backward_needs_src = false;
    plan_.backward_needs_dst = relu_;
  }

  std::string implementation() const override { return "pool " + implementation_ + (relu_ ? " + relu" : ""); }

  std::unique_ptr<KernelState> bind(const KernelArgs& args) const override {
    auto state = std::make_unique<PoolState>();
    std::vector<onednn::BoundPrimitive::Arg> list{
        {DNNL_ARG_SRC, onednn::memory_at(src_, args.src[0])},
        {DNNL_ARG_DST, onednn::memory_at(dst_, args.dst)},
        {DNNL_ARG_SCRATCHPAD, onednn::memory_at(forward_scratch_, args.scratch)}};
    if (has_workspace_) list.emplace_back(DNNL_ARG_WORKSPACE, onednn::memory_at(workspace_, args.workspace));
    state->forward = {forward_, list, threads_};
    if (backward_wanted_) {
      list = {{DNNL_ARG_DIFF_SRC, onednn::memory_at(src_, args.diff_src[0])},
              {DNNL_ARG_DIFF_DST, onednn::memory_at(dst_, args.diff_dst)},
              {DNNL_ARG_SCRATCHPAD, onednn::memory_at(backward_scratch_, args.scratch)}};
      if (has_workspace_) list.emplace_back(DNNL_ARG_WORKSPACE, onednn::memory_at(workspace_, args.workspace));
      state->backward = {backward_, list, threads_};
    }
    return state;
  }

  void forward(const KernelArgs& args, KernelState* state, OarRun&) const override {
    static_cast<PoolState*>(state)->forward.execute();
    if (relu_) relu_in_place(args.dst, plan_.dst.elements());
  }
  void backward(const KernelArgs& args, KernelState* state, OarRun&) const override {
    if (!backward_wanted_) return;
    if (relu_) relu_mask(args.diff_dst, args.dst, plan_.dst.elements());
    static_cast<PoolState*>(state)->backward.execute();
  }

 private:
  int threads_;
  bool relu_, backward_wanted_, has_workspace_ = false;
  dnnl::memory::desc src_, dst_, workspace_, forward_scratch_, backward_scratch_;
  dnnl::primitive forward_, backward_;
  std::string implementation_;
};

class PoolOp : public Op {
 public:
  PoolOp(PoolKind kind, PoolOptions options, bool global) : kind_(kind), o_(std::move(options)), global_(global) {}

  std::string_view kind() const override { return kind_ == PoolKind::max ? "max_pool" : "average_pool"; }

  std::string options_text() const override {
    OptionsText text;
    text.add("kernel", global_ ? std::string(kAll) : sizes_text(o_.kernel));
    text.sizes("stride", o_.stride, o_.kernel);
    text.sizes("padding", o_.padding, std::vector<std::int64_t>(o_.kernel.size(), 0));
    if (kind_ == PoolKind::average) text.flag("count_padding", o_.count_padding, true);
    if (kind_ == PoolKind::max) text.flag("relu", o_.relu, false);
    return text.text();
  }

  Shape output(std::span<const Shape> src) const override {
    if (src.size() != 1) base::user_error("pooling takes one input, not {}", src.size());
    const PoolOptions o = sized(src[0]);
    const int spatial = static_cast<int>(o.kernel.size());
    if (src[0].rank() != spatial + 2)
      base::user_error("a {}-D pooling needs samples of {} sizes, got {}", spatial, spatial + 1,
                       src[0].without_batch().text());
    Shape out = src[0];
    for (int d = 0; d < spatial; ++d) {
      const auto i = static_cast<std::size_t>(d);
      const std::int64_t padded = src[0][d + 2] + 2 * o.padding[i];
      if (o.kernel[i] > padded)
        base::user_error(
            "the pooling window ({}) is larger than its padded input ({}); use a larger image or less pooling",
            o.kernel[i], padded);
      out[d + 2] = (padded - o.kernel[i]) / o.stride[i] + 1;
    }
    return out;
  }

  std::unique_ptr<Kernel> compile(const KernelRequest& request) const override {
    const std::vector<Shape> shapes = request.shapes();
    if (kind_ == PoolKind::average && pair_pool_fits(sized(shapes[0]), request.src[0]))
      return make_pair_pool(request, output(shapes));
    return std::make_unique<PoolKernel>(request, sized(shapes[0]), kind_, output(shapes));
  }

  OpPtr with_relu() const override {
    if (kind_ != PoolKind::max || o_.relu) return nullptr;
    PoolOptions options = o_;
    options.relu = true;
    return std::make_shared<PoolOp>(kind_, std::move(options), global_);
  }

  void reference_forward(Reference& r) const override {
    pool_reference_forward(kind_, sized(r.shapes[0]), output(r.shapes), r);
  }
  void reference_backward(Reference& r) const override {
    pool_reference_backward(kind_, sized(r.shapes[0]), output(r.shapes), r);
  }

 private:
  // A global pool takes its window from the input.
  PoolOptions sized(const Shape& src) const {
    if (!global_) return o_;
    if (src.rank() < 3) base::user_error("global pooling needs spatial sizes, got {}", src.without_batch().text());
    PoolOptions o = o_;
    for (int d = 2; d < src.rank(); ++d) o.kernel.push_back(src[d]);
    o.stride = o.kernel;
    o.padding.assign(o.kernel.size(), 0);
    return o;
  }

  PoolKind kind_;
  PoolOptions o_;
  bool global_;
};

OpPtr make_pool(PoolKind kind, PoolOptions options) {
  if (options.stride.empty()) options.stride = options.kernel;
  if (options.padding.empty()) options.padding.assign(options.kernel.size(), 0);
  const std::size_t spatial = options.kernel.size();
  if (spatial < 1 || spatial > 2 || options.stride.size() != spatial || options.padding.size() != spatial)
    base::user_error("pooling needs 1 or 2 window sizes and as many strides and paddings, got {}, {} and {}", spatial,
                     options.stride.size(), options.padding.size());
  for (std::size_t d = 0; d < spatial; ++d)
    if (options.kernel[d] < 1 || options.stride[d] < 1 || options.padding[d] < 0 ||
        2 * options.padding[d] > options.kernel[d])
      base::user_error(
          "pooling with window {}, stride {} and padding {} is impossible (padding is at most half the window)",
          options.kernel[d], options.stride[d], options.padding[d]);
  return std::make_shared<PoolOp>(kind, std::move(options), false);
}

OpRow pool_row(PoolKind kind, std::string name, std::string summary, base::SpecOption own) {
  return {.name = std::move(name),
          .summary = std::move(summary),
          .options = {{"kernel", "SIZES", "of the window: 2x2, or 2 for one spatial size; all: every position"},
                      {"stride", kOwn, "sizes, or one number for all; kernel: windows side by side"},
                      {"padding", "0", "sizes, or one number for all; at most half the kernel"},
                      std::move(own)},
          .make = [kind](base::Spec& spec) -> OpPtr {
            const bool global = spec.word("kernel", "") == kAll;
            PoolOptions options;
            if (!global) options.kernel = required_sizes(spec, "kernel");
            if (spec.word("stride", kOwn) != kOwn)
              options.stride = optional_sizes(spec, "stride", options.kernel.size());
            options.padding = optional_sizes(spec, "padding", options.kernel.size());
            if (kind == PoolKind::average) options.count_padding = spec.flag("count_padding", true);
            if (kind == PoolKind::max) options.relu = spec.flag("relu", false);
            if (!global) return make_pool(kind, std::move(options));
            if (!options.stride.empty() || !options.padding.empty())
              base::user_error("op '{}' over all positions takes no stride and no padding", spec.name());
            return std::make_shared<PoolOp>(kind, std::move(options), true);
          }};
}

}  // namespace

OpPtr max_pool(PoolOptions options) { return make_pool(PoolKind::max, std::move(options)); }
OpPtr average_pool(PoolOptions options) { return make_pool(PoolKind::average, std::move(options)); }
OpPtr global_max_pool() { return std::make_shared<PoolOp>(PoolKind::max, PoolOptions{}, true); }
OpPtr global_average_pool() { return std::make_shared<PoolOp>(PoolKind::average, PoolOptions{}, true); }

OpRow max_pool_row() {
  return pool_row(PoolKind::max, "max_pool", "maximum over windows of one or two spatial sizes",
                  {"relu", "no|yes", "apply a ReLU to the result"});
}
OpRow average_pool_row() {
  return pool_row(PoolKind::average, "average_pool", "mean over windows of one or two spatial sizes",
                  {"count_padding", "yes|no", "divide by the whole window, padding included"});
}

}  // namespace trireme::ops
