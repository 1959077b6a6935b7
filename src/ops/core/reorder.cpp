#include "ops/core/reorder.h"

#include "base/error.h"
#include "ops/core/onednn.h"
#include "tensor/buffer.h"

namespace trireme::ops {
namespace {

// One oneDNN reorder between two layouts, not bound to memory yet.
struct Way {
  dnnl::memory::desc from, to, scratchpad;
  tensor::ElementType from_type, to_type;
  dnnl::primitive primitive;
  std::string implementation;

  Way(const Layout& source, const Layout& target, int threads)
      : from(onednn::to_desc(source)), to(onednn::to_desc(target)), from_type(source.type), to_type(target.type) {
    onednn::create(threads, "a reorder", [&] {
      const dnnl::reorder::primitive_desc desc(onednn::cpu(), from, onednn::cpu(), to, onednn::attributes());
      scratchpad = desc.scratchpad_desc();
      implementation = desc.impl_info_str();
      primitive = dnnl::reorder(desc);
    });
  }

  onednn::BoundPrimitive bind(ConstView src, View dst, std::byte* scratch, int threads) const {
    base::check(src.type == from_type && dst.type == to_type, "a reorder from {} to {} is given {} and {}",
                tensor::element_name(from_type), tensor::element_name(to_type), tensor::element_name(src.type),
                tensor::element_name(dst.type));
    std::vector<onednn::BoundPrimitive::Arg> args{{DNNL_ARG_FROM, onednn::memory_at(from, src.data)},
                                                  {DNNL_ARG_TO, onednn::memory_at(to, dst.data)}};
    if (scratchpad.get_size() > 0) args.emplace_back(DNNL_ARG_SCRATCHPAD, onednn::memory_at(scratchpad, scratch));
    return {primitive, args, threads};
  }
};

struct ReorderState : KernelState {
  onednn::BoundPrimitive forward, backward;
};

class ReorderKernel : public Kernel {
 public:
  ReorderKernel(const Layout& from, const Layout& to, int threads)
      : threads_(threads), there_(from, to, threads), back_(to, from, threads) {
    plan_.src = {from};
    plan_.dst = to;
    plan_.scratch_bytes = std::max(there_.scratchpad.get_size(), back_.scratchpad.get_size());
    plan_.backward_needs_src = false;
  }

  std::string implementation() const override { return "reorder " + there_.implementation; }

  std::unique_ptr<KernelState> bind(const KernelArgs& args) const override {
    auto state = std::make_unique<ReorderState>();
    state->forward = there_.bind(args.src[0], args.dst, args.scratch, threads_);
    if (!args.diff_src.empty() && args.diff_src[0])
      state->backward = back_.bind(args.diff_dst, args.diff_src[0], args.scratch, threads_);
    return state;
  }

  void forward(const KernelArgs&, KernelState* state, OarRun&) const override {
    static_cast<ReorderState*>(state)->forward.execute();
  }
  void backward(const KernelArgs& args, KernelState* state, OarRun&) const override {
    if (args.diff_src[0]) static_cast<ReorderState*>(state)->backward.execute();
  }

 private:
  int threads_;
  Way there_, back_;
};

}  // namespace

std::unique_ptr<Kernel> make_reorder(const Layout& from, const Layout& to, int threads) {
  return std::make_unique<ReorderKernel>(from, to, threads);
}

struct LayoutCopy::State {
  tensor::Buffer scratch;
  onednn::BoundPrimitive bound;
};

LayoutCopy::LayoutCopy(const Layout& from, ConstView src, const Layout& to, View dst, int threads)
    : state_(std::make_unique<State>()) {
  const Way way(from, to, threads);
  state_->scratch = tensor::Buffer(way.scratchpad.get_size());
  state_->bound = way.bind(src, dst, state_->scratch.data(), threads);
}
LayoutCopy::~LayoutCopy() = default;
LayoutCopy::LayoutCopy(LayoutCopy&&) noexcept = default;

void LayoutCopy::run() const { state_->bound.execute(); }

}  // namespace trireme::ops
