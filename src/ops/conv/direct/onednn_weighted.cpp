#include "ops/conv/direct/onednn_weighted.h"

#include <algorithm>

#include "base/error.h"
#include "ops/conv/direct/bias_gradient.h"
#include "ops/vector/relu_mask.h"
#include "tensor/buffer.h"

namespace trireme::ops {
namespace {

using Desc = dnnl::memory::desc;
using onednn::memory_at;
using onednn::to_desc;
using onednn::to_layout;

struct WeightedState : KernelState {
  onednn::BoundPrimitive forward, backward_data;
  std::vector<onednn::BoundPrimitive> backward_weights;  // per slot
  std::vector<onednn::BoundPrimitive> into_live_layout;  // per slot, if the gradient has another layout
};

class WeightedKernel : public Kernel {
 public:
  WeightedKernel(const KernelRequest& request, const WeightedSetup& setup, const WeightedMakers& makers)
      : setup_(setup), threads_(request.threads), training_(request.training), diff_src_(request.diff_src[0]) {
    onednn::create(threads_, setup.what, [&] { make(request, makers); });
  }

  std::string implementation() const override {
    std::string all = setup_.name + (setup_.relu ? " + relu " : " ") + forward_.implementation;
    if (training_ && diff_src_) all += " | " + backward_data_.implementation;
    if (training_) all += " | " + backward_weights_.implementation;
    return all;
  }

  std::unique_ptr<KernelState> bind(const KernelArgs& args) const override {
    auto state = std::make_unique<WeightedState>();
    const auto scratch = [&](const MadePrimitive& made) { return memory_at(made.scratchpad, args.scratch); };
    const float* weights = forward_derived_ < 0 ? args.weights[0] : args.derived[index(forward_derived_)];
    std::vector<onednn::BoundPrimitive::Arg> list{{DNNL_ARG_SRC, memory_at(forward_.src, args.src[0])},
                                                  {DNNL_ARG_WEIGHTS, memory_at(forward_.weights, weights)},
                                                  {DNNL_ARG_DST, memory_at(forward_.dst, args.dst)},
                                                  {DNNL_ARG_SCRATCHPAD, scratch(forward_)}};
    if (setup_.bias) list.emplace_back(DNNL_ARG_BIAS, memory_at(bias_desc(), args.weights[1]));
    state->forward = {forward_.primitive, list, threads_};
    if (!training_) return state;

    if (diff_src_) {
      weights = backward_derived_ < 0 ? args.weights[0] : args.derived[index(backward_derived_)];
      state->backward_data = {backward_data_.primitive,
                              {{DNNL_ARG_DIFF_SRC, memory_at(backward_data_.src, args.diff_src[0])},
                               {DNNL_ARG_WEIGHTS, memory_at(backward_data_.weights, weights)},
                               {DNNL_ARG_DIFF_DST, memory_at(backward_data_.dst, args.diff_dst)},
                               {DNNL_ARG_SCRATCHPAD, scratch(backward_data_)}},
                              threads_};
    }
    for (const auto& slot : args.diff_weights) {
      float* gradient = reorder_gradient_ ? reinterpret_cast<float*>(args.scratch + gradient_at_) : slot[0].floats();
      std::vector<onednn::BoundPrimitive::Arg> wlist{
          {DNNL_ARG_SRC, memory_at(backward_weights_.src, args.src[0])},
          {DNNL_ARG_DIFF_WEIGHTS, memory_at(backward_weights_.weights, gradient)},
          {DNNL_ARG_DIFF_DST, memory_at(backward_weights_.dst, args.diff_dst)},
          {DNNL_ARG_SCRATCHPAD, scratch(backward_weights_)}};
      if (setup_.bias && !own_bias_) wlist.emplace_back(DNNL_ARG_DIFF_BIAS, memory_at(bias_desc(), slot[1]));
      state->backward_weights.emplace_back(backward_weights_.primitive, wlist, threads_);
      if (reorder_gradient_)
        state->into_live_layout.emplace_back(reorder_,
                                             std::vector<onednn::BoundPrimitive::Arg>{
                                                 {DNNL_ARG_FROM, memory_at(backward_weights_.weights, gradient)},
                                                 {DNNL_ARG_TO, memory_at(to_desc(plan_.weights[0]), slot[0])},
                                                 {DNNL_ARG_SCRATCHPAD, memory_at(reorder_scratchpad_, args.scratch)}},
                                             threads_);
    }
    return state;
  }

  void forward(const KernelArgs&, KernelState* state, OarRun&) const override {
    static_cast<WeightedState*>(state)->forward.execute();
  }

  void backward(const KernelArgs& args, KernelState* state, OarRun& run) const override {
    const auto& bound = *static_cast<WeightedState*>(state);
    if (own_bias_)
      bias_gradient(plan_.dst, args.diff_dst, setup_.relu ? args.dst : nullptr, args.diff_weights[index(run.slot)][1]);
    else if (setup_.relu)
      relu_mask(args.diff_dst, args.dst, plan_.dst.elements());
    bound.backward_weights[index(run.slot)].execute();
    if (reorder_gradient_) bound.into_live_layout[index(run.slot)].execute();
    if (diff_src_) bound.backward_data.execute();
  }

 private:
  static std::size_t index(int i) { return static_cast<std::size_t>(i); }

  dnnl::memory::desc bias_desc() const { return to_desc(Layout::plain({setup_.bias_count})); }

  // Takes the first pair of layouts for which oneDNN has a fast kernel in every direction, else the pair with the
  // fewest directions in plain loops (oneDNN's reference kernels).
  void make(const KernelRequest& request, const WeightedMakers& makers) {
    std::size_t best = 0;
    int fewest = 4;
    for (std::size_t i = 0; i < setup_.layouts.size() && fewest > 0; ++i) {
      const int plain_loops = make_directions(i, request, makers);
      if (plain_loops >= fewest) continue;
      best = i;
      fewest = plain_loops;
    }
    if (fewest > 3) base::run_error("oneDNN has no implementation of {}", setup_.what);
    if (fewest > 0) make_directions(best, request, makers);
    plan_.src = {to_layout(forward_.src)};
    plan_.dst = to_layout(forward_.dst);
    if (setup_.bias) plan_.weights.push_back(Layout::plain({setup_.bias_count}));
    plan_.backward_needs_dst = setup_.relu;
  }

  // Makes the primitives for one pair of layouts, and the kernel's plan. Returns how many of them are plain loops, or 4
  // when oneDNN has no implementation of one of them.
  int make_directions(std::size_t choice, const KernelRequest& request, const WeightedMakers& makers) {
    const auto& [src, dst] = setup_.layouts[choice];
    const auto any = onednn::any_desc(setup_.weight_shape);
    const auto fixed = request.weights.empty() ? any : to_desc(request.weights[0]);
    const auto best_of = [&](const auto& make_one, const Desc& s, const Desc& wanted, const Desc& d) {
      MadePrimitive made = make_one(s, wanted, d);
      if (!made.primitive || made.is_plain_loops()) made = make_one(s, any, d);
      return made;
    };
    plan_ = {};
    forward_ = best_of(makers.forward, src, fixed, dst);
    if (!forward_.primitive) return 4;
    plan_.weights = {request.weights.empty() ? to_layout(forward_.weights) : request.weights[0]};
    const Desc live = to_desc(plan_.weights[0]);
    forward_derived_ = derive(forward_.weights, live);
    plan_.scratch_bytes = forward_.scratchpad.get_size();
    int plain_loops = forward_.is_plain_loops();
    if (!training_) return plain_loops;
    if (diff_src_) {
      backward_data_ = best_of(makers.backward_data, forward_.src, live, forward_.dst);
      if (!backward_data_.primitive) return 4;
      plain_loops += backward_data_.is_plain_loops();
      backward_derived_ = derive(backward_data_.weights, live);
      plan_.scratch_bytes = std::max(plan_.scratch_bytes, backward_data_.scratchpad.get_size());
    }
    own_bias_ = setup_.bias && bias_gradient_fits(to_layout(forward_.dst));
    const auto make_weights = [&](const Desc& s, const Desc& wanted, const Desc& d) {
      return makers.backward_weights(s, wanted, d, setup_.bias && !own_bias_);
    };
    backward_weights_ = best_of(make_weights, forward_.src, live, forward_.dst);
    if (!backward_weights_.primitive) return 4;
    plan_.scratch_bytes = std::max(plan_.scratch_bytes, backward_weights_.scratchpad.get_size());
    reorder_gradient_ = backward_weights_.weights != live;
    if (reorder_gradient_) {
      const dnnl::reorder::primitive_desc reorder(onednn::cpu(), backward_weights_.weights, onednn::cpu(), live,
                                                  onednn::attributes());
      reorder_ = dnnl::reorder(reorder);
      reorder_scratchpad_ = reorder.scratchpad_desc();
      gradient_at_ = tensor::align_up(std::max(plan_.scratch_bytes, reorder_scratchpad_.get_size()));
      plan_.scratch_bytes = gradient_at_ + backward_weights_.weights.get_size();
    }
    return plain_loops + backward_weights_.is_plain_loops();
  }

  // The index of the derived form in that layout, or -1 when it is the live layout itself.
  int derive(const dnnl::memory::desc& wanted, const dnnl::memory::desc& live) {
    if (wanted == live) return -1;
    const Layout layout = to_layout(wanted);
    for (std::size_t i = 0; i < plan_.derived.size(); ++i)
      if (plan_.derived[i].layout == layout) return static_cast<int>(i);
    plan_.derived.push_back({0, layout});
    return static_cast<int>(plan_.derived.size()) - 1;
  }

  WeightedSetup setup_;
  int threads_;
  bool training_, diff_src_;
  MadePrimitive forward_, backward_data_, backward_weights_;
  dnnl::primitive reorder_;
  Desc reorder_scratchpad_;
  int forward_derived_ = -1, backward_derived_ = -1;
  bool reorder_gradient_ = false, own_bias_ = false;
  std::size_t gradient_at_ = 0;
};

}  // namespace

std::unique_ptr<Kernel> make_weighted(const KernelRequest& request, const WeightedSetup& setup,
                                      const WeightedMakers& makers) {
  return std::make_unique<WeightedKernel>(request, setup, makers);
}

}  // namespace trireme::ops
