#include "ops/merge/flatten.h"

#include "base/error.h"
#include "ops/core/op_registry.h"

namespace trireme::ops {
namespace {

class FlattenKernel : public Kernel {
 public:
  explicit FlattenKernel(const KernelRequest& request, const Shape& out) {
    plan_.src = {Layout::plain(request.src[0].shape)};
    plan_.dst = Layout::plain(out);
    plan_.backward_needs_src = false;
    plan_.view = true;
    plan_.forward_in_place = true;
    plan_.backward_in_place = true;
  }
  std::string implementation() const override { return "view"; }
  void forward(const KernelArgs&, KernelState*, OarRun&) const override {}
  void backward(const KernelArgs&, KernelState*, OarRun&) const override {}
};

class FlattenOp : public Op {
 public:
  std::string_view kind() const override { return "flatten"; }
  Shape output(std::span<const Shape> src) const override {
    if (src.size() != 1) base::user_error("flatten takes one input, not {}", src.size());
    if (src[0].rank() < 2)
      base::user_error("flatten needs samples of at least one size, got a value of {} sizes, the batch included",
                       src[0].rank());
    return {src[0][0], src[0].count_from(1)};
  }
  Cost cost(std::span<const Shape>) const override { return {}; }
  std::unique_ptr<Kernel> compile(const KernelRequest& request) const override {
    return std::make_unique<FlattenKernel>(request, output(request.shapes()));
  }
  void reference_forward(Reference& r) const override { r.dst = r.src[0]; }
  void reference_backward(Reference& r) const override {
    if (!r.diff_src[0].empty()) r.diff_src[0] = r.diff_dst;
  }
};

}  // namespace

OpPtr flatten() { return std::make_shared<FlattenOp>(); }

OpRow flatten_row() {
  return {
      .name = "flatten", .summary = "all sizes of a sample become one", .make = [](base::Spec&) { return flatten(); }};
}

}  // namespace trireme::ops
