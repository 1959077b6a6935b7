#include "compare/op_run.h"

#include <algorithm>
#include <deque>

#include "base/simd.h"
#include "ops/reorder.h"
#include "tensor/buffer.h"

namespace trireme::compare {
namespace {

constexpr std::int64_t kBlock = 16;  // channels side by side, as nearly all layers of nearly all networks have them

class Memory {
 public:
  std::byte* bytes(std::size_t count) {
    return buffers_.emplace_back(std::max<std::size_t>(count, tensor::kAlignment)).data();
  }
  float* floats(const tensor::Layout& layout) {
    return reinterpret_cast<float*>(bytes(static_cast<std::size_t>(layout.elements()) * sizeof(float)));
  }
  float* filled(const tensor::Layout& layout, std::span<const float> plain) {
    float* memory = floats(layout);
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

}  // namespace

OpFound run_op(const ops::Op& op, const OpGiven& given) {
  base::set_flush_to_zero();
  ops::KernelRequest request;
  request.src = {given.shape.rank() < 3 ? tensor::Layout::plain(given.shape)
                                        : tensor::Layout::channels_blocked(given.shape, kBlock)};
  request.diff_src = {given.wants_diff_src};
  const auto kernel = op.compile(request);
  const ops::KernelPlan& plan = kernel->plan();

  Memory memory;
  ops::KernelArgs args;
  args.src = {memory.filled(plan.src[0], given.src)};
  args.dst = memory.floats(plan.dst);
  for (std::size_t p = 0; p < plan.weights.size(); ++p)
    args.weights.push_back(memory.filled(plan.weights[p], given.weights[p]));
  for (const auto& derived : plan.derived) {
    const auto p = static_cast<std::size_t>(derived.parameter);
    float* place = memory.floats(derived.layout);
    ops::LayoutCopy(plan.weights[p], args.weights[p], derived.layout, place, 1).run();
    args.derived.push_back(place);
  }
  args.workspace = memory.bytes(plan.workspace_bytes);
  args.scratch = memory.bytes(plan.scratch_bytes);
  args.diff_dst = memory.filled(plan.dst, given.diff_dst);
  args.diff_src = {given.wants_diff_src ? memory.floats(plan.src[0]) : nullptr};
  args.diff_weights.emplace_back();
  for (const tensor::Layout& layout : plan.weights) args.diff_weights[0].push_back(memory.floats(layout));

  ops::OarRun run;
  const auto state = kernel->bind(args);
  kernel->forward(args, state.get(), run);
  OpFound found;
  found.dst = plain_of(plan.dst, args.dst);
  kernel->backward(args, state.get(), run);
  if (given.wants_diff_src) found.diff_src = plain_of(plan.src[0], args.diff_src[0]);
  for (std::size_t p = 0; p < plan.weights.size(); ++p)
    found.diff_weights.push_back(plain_of(plan.weights[p], args.diff_weights[0][p]));
  found.implementation = kernel->implementation();
  return found;
}

}  // namespace trireme::compare
