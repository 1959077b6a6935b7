#include "graph/fingerprint.h"

#include <algorithm>
#include <numeric>

#include "base/cpu/simd.h"
#include "base/hash.h"
#include "base/rng.h"
#include "ops/core/reorder.h"

namespace trireme::graph {
namespace {

using tensor::Buffer;

Buffer floats(std::int64_t count) { return Buffer(static_cast<std::size_t>(count) * sizeof(float)); }

// A buffer with fixed numbers in [-0.5, 0.5) in every element and zeros in the padding.
Buffer filled(const ops::Layout& layout, std::uint64_t stream) {
  const base::CounterRng rng(0, base::Purpose::probe, 0, stream);
  Buffer plain = floats(layout.shape.count());
  for (std::int64_t i = 0; i < layout.shape.count(); ++i)
    plain.floats()[i] = rng.uniform(static_cast<std::uint64_t>(i)) - 0.5f;
  if (layout.is_plain()) return plain;
  Buffer live(layout.bytes());
  tensor::from_plain(layout, plain.floats(), live.floats());
  return live;
}

std::string description(const PlanTask& task) {
  const ops::KernelPlan& plan = task.kernel->plan();
  std::string text = task.kernel->implementation();
  for (const ops::Layout& src : plan.src) text += " " + src.shape.text() + "/" + src.text();
  text += " -> " + plan.dst.shape.text() + "/" + plan.dst.text();
  for (const ops::Layout& weights : plan.weights) text += " w" + weights.shape.text() + "/" + weights.text();
  return text;
}

std::uint64_t run(const PlanTask& task, bool training) {
  const ops::KernelPlan& plan = task.kernel->plan();
  std::vector<Buffer> memory;
  const auto keep = [&](const ops::Layout& layout, Buffer buffer) {
    memory.push_back(std::move(buffer));
    return ops::View(memory.back().data(), layout.type);
  };
  ops::KernelArgs args;
  std::uint64_t stream = 0;
  for (std::size_t s = 0; s < plan.src.size(); ++s) {
    const bool target = task.is_loss && s == 1;  // zeros: class 0 is a valid target of every loss
    const ops::Layout& layout = plan.src[s];
    args.src.push_back(keep(layout, target ? Buffer(layout.bytes()) : filled(layout, ++stream)));
  }
  std::vector<std::span<const std::byte>> results;
  const auto result = [&](const ops::Layout& layout) {
    const ops::View place = keep(layout, Buffer(layout.bytes()));
    results.emplace_back(static_cast<const std::byte*>(place.data), layout.bytes());
    return place;
  };
  args.dst = result(plan.dst);
  for (const ops::Layout& weights : plan.weights) args.weights.push_back(keep(weights, filled(weights, ++stream)));
  for (const auto& derived : plan.derived) {
    const ops::View place = keep(derived.layout, Buffer(derived.layout.bytes()));
    const auto p = static_cast<std::size_t>(derived.parameter);
    ops::LayoutCopy(plan.weights[p], args.weights[p], derived.layout, place, 1).run();
    args.derived.push_back(place);
  }
  if (training) {
    args.diff_dst = keep(plan.dst, filled(plan.dst, ++stream));
    for (std::size_t s = 0; s < plan.src.size(); ++s)
      args.diff_src.push_back(task.wants_diff[s] ? result(plan.src[s]) : ops::View());
    args.diff_weights.emplace_back();
    for (const ops::Layout& weights : plan.weights) args.diff_weights[0].push_back(result(weights));
  }
  memory.emplace_back(plan.workspace_bytes + tensor::kAlignment);
  args.workspace = memory.back().data();
  memory.emplace_back(plan.scratch_bytes + tensor::kAlignment);
  args.scratch = memory.back().data();

  std::vector<std::int64_t> indices(static_cast<std::size_t>(plan.src[0].shape[0]));
  std::iota(indices.begin(), indices.end(), std::int64_t{0});
  ops::OarRun oar;
  oar.sample_indices = indices;
  base::set_flush_to_zero();
  const auto state = task.kernel->bind(args);
  task.kernel->forward(args, state.get(), oar);
  if (training && (task.diff_dst >= 0 || task.is_loss)) task.kernel->backward(args, state.get(), oar);
  std::uint64_t hash = 0;
  for (const std::span<const std::byte> bytes : results) hash = base::xxh3(bytes, hash);
  return hash;
}

}  // namespace

std::vector<KernelPrint> fingerprint(const Program& program) {
  std::vector<KernelPrint> prints;
  for (const PlanTask& task : program.plan().tasks) {
    if (task.kernel->plan().view) continue;
    std::string text = description(task);
    if (std::any_of(prints.begin(), prints.end(), [&](const KernelPrint& p) { return p.kernel == text; })) continue;
    prints.push_back({std::move(text), run(task, program.options().training)});
  }
  return prints;
}

}  // namespace trireme::graph
