#include "compare/levels/op_run.h"

#include <algorithm>
#include <deque>
#include <memory>

#include "base/cpu/simd.h"
#include "ops/core/reorder.h"
#include "tensor/buffer.h"

namespace trireme::compare {
namespace {

constexpr std::int64_t kBlock = 16;  // channels per block: the layout of nearly all layers of nearly all networks

class Memory {
 public:
  std::byte* bytes(std::size_t count) {
    return buffers_.emplace_back(std::max<std::size_t>(count, tensor::kAlignment)).data();
  }
  ops::View empty(const tensor::Layout& layout) { return {bytes(layout.bytes()), layout.type}; }
  ops::View filled(const tensor::Layout& layout, std::span<const float> plain) {
    const ops::View memory = empty(layout);
    tensor::from_plain(layout, plain.data(), memory);
    return memory;
  }

 private:
  std::deque<tensor::Buffer> buffers_;
};

std::vector<float> plain_of(const tensor::Layout& layout, const float* memory) {
  std::vector<float> plain(static_cast<std::size_t>(layout.shape.count()));
  tensor::to_plain(layout, memory, plain.data());
  return plain;
}

tensor::Layout layout_of(const tensor::Shape& shape) {
  return shape.rank() < 3 ? tensor::Layout::plain(shape) : tensor::Layout::channels_blocked(shape, kBlock);
}

// A kernel with the memory that forward needs.
struct Rig {
  Rig(const ops::Op& op, const std::vector<tensor::Shape>& shapes, const std::vector<bool>& diff_src,
      const std::vector<std::span<const float>>& src, const std::vector<std::span<const float>>& weights,
      const ops::KernelTable* table) {
    base::set_flush_to_zero();
    ops::KernelRequest request;
    request.table = table;
    for (const tensor::Shape& shape : shapes) request.src.push_back(layout_of(shape));
    request.diff_src = diff_src;
    kernel = op.compile(request);
    const ops::KernelPlan& plan = kernel->plan();
    for (std::size_t s = 0; s < src.size(); ++s) args.src.push_back(memory.filled(plan.src[s], src[s]));
    args.dst = memory.empty(plan.dst);
    for (std::size_t p = 0; p < plan.weights.size(); ++p)
      args.weights.push_back(memory.filled(plan.weights[p], weights[p]));
    for (const auto& derived : plan.derived) {
      const auto p = static_cast<std::size_t>(derived.parameter);
      const ops::View place = memory.empty(derived.layout);
      ops::LayoutCopy(plan.weights[p], args.weights[p], derived.layout, place, 1).run();
      args.derived.push_back(place);
    }
    args.workspace = memory.bytes(plan.workspace_bytes);
    args.scratch = memory.bytes(plan.scratch_bytes);
    // Some kernels keep forward statistics in the gradient memory.
    args.diff_weights.emplace_back();
    for (const tensor::Layout& layout : plan.weights) args.diff_weights[0].push_back(memory.empty(layout));
  }

  Memory memory;
  std::unique_ptr<ops::Kernel> kernel;
  ops::KernelArgs args;
  ops::OarRun run;
};

}  // namespace

OpFound run_op(const ops::Op& op, const OpGiven& given) {
  Rig rig(op, given.shapes, given.wants_diff_src, given.src, given.weights, given.table);
  rig.run.loss_scale = given.loss_scale;
  const ops::KernelPlan& plan = rig.kernel->plan();
  OpFound found;
  found.diff_src.resize(given.src.size());
  if (plan.view) {
    found.dst = plain_of(plan.dst, rig.args.src[0]);
    found.diff_src[0].assign(given.diff_dst.begin(), given.diff_dst.end());
    return found;
  }
  if (!op.is_loss()) rig.args.diff_dst = rig.memory.filled(plan.dst, given.diff_dst);
  for (std::size_t i = 0; i < given.src.size(); ++i)
    rig.args.diff_src.push_back(given.wants_diff_src[i] ? rig.memory.empty(plan.src[i]) : ops::View());
  const auto state = rig.kernel->bind(rig.args);
  rig.kernel->forward(rig.args, state.get(), rig.run);
  found.dst = plain_of(plan.dst, rig.args.dst);
  found.loss = rig.run.loss;
  rig.kernel->backward(rig.args, state.get(), rig.run);
  for (std::size_t i = 0; i < given.src.size(); ++i)
    if (given.wants_diff_src[i]) found.diff_src[i] = plain_of(plan.src[i], rig.args.diff_src[i]);
  for (std::size_t p = 0; p < plan.weights.size(); ++p)
    found.diff_weights.push_back(plain_of(plan.weights[p], rig.args.diff_weights[0][p]));
  return found;
}

std::vector<float> run_forward(const ops::Op& op, const std::vector<tensor::Shape>& shapes,
                               const std::vector<std::span<const float>>& src,
                               const std::vector<std::span<const float>>& weights, const ops::KernelTable* table) {
  Rig rig(op, shapes, std::vector<bool>(shapes.size()), src, weights, table);
  const ops::KernelPlan& plan = rig.kernel->plan();
  if (plan.view) return plain_of(plan.dst, rig.args.src[0]);
  rig.args.diff_src.resize(shapes.size());
  const auto state = rig.kernel->bind(rig.args);
  rig.kernel->forward(rig.args, state.get(), rig.run);
  return plain_of(plan.dst, rig.args.dst);
}

}  // namespace trireme::compare
