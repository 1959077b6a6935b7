// The reference executor: a network run node by node in double through the ops' plain implementations, gradients by the
// chain rule. Slow, simple, and independent of Programs, layouts, fusion and memory plans.
#pragma once

#include <numeric>

#include "support/core_numbers.h"

namespace trireme::support {

struct ReferenceResult {
  double loss = 0, correct = 0;                // sums over samples
  std::vector<std::vector<double>> gradients;  // per parameter; statistics: sums weighted by samples
  std::vector<double> prediction;
};

struct ReferenceBatch {
  std::int64_t samples = 0;
  std::vector<std::vector<double>> inputs;
  std::vector<double> target;
  std::vector<std::int64_t> indices;
  double loss_scale = 1;
  std::uint64_t seed = 0, epoch = 0;
  bool training = true;
};

inline std::vector<double> widen(const std::vector<float>& values) { return {values.begin(), values.end()}; }
inline std::vector<std::vector<double>> widen(const Plain& values) {
  std::vector<std::vector<double>> all;
  for (const auto& each : values) all.push_back(widen(each));
  return all;
}

inline ReferenceResult run_reference(const graph::Network& net, const std::vector<std::vector<double>>& parameters,
                                     const ReferenceBatch& batch) {
  const auto at = [](auto i) { return static_cast<std::size_t>(i); };
  const auto& nodes = net.nodes();
  std::vector<std::vector<double>> value(nodes.size()), gradient(nodes.size());
  std::vector<ops::Reference> run(nodes.size());
  std::vector<std::vector<std::size_t>> owned(nodes.size());
  ReferenceResult result;
  result.gradients.resize(parameters.size());
  for (std::size_t p = 0; p < parameters.size(); ++p) {
    result.gradients[p].assign(parameters[p].size(), 0.0);
    owned[at(net.parameters()[p].node)].push_back(p);
  }
  for (std::size_t i = 0; i < net.inputs().size(); ++i) value[at(net.inputs()[i])] = batch.inputs[i];
  value[at(net.target())] = batch.target;

  for (std::size_t n = 0; n < nodes.size(); ++n) {
    if (!nodes[n].op) continue;
    ops::Reference& r = run[n];
    r.training = batch.training;
    r.run.seed = batch.seed;
    r.run.epoch = batch.epoch;
    r.run.sample_indices = batch.indices;
    r.run.loss_scale = static_cast<float>(batch.loss_scale);
    for (const int input : nodes[n].inputs) {
      r.shapes.push_back(nodes[at(input)].shape.with_batch(batch.samples));
      r.src.push_back(value[at(input)]);
    }
    for (const std::size_t p : owned[n]) {
      r.weights.push_back(parameters[p]);
      r.diff_weights.emplace_back(parameters[p].size(), 0.0);
    }
    r.dst.resize(at(nodes[n].shape.with_batch(batch.samples).count()));
    nodes[n].op->reference_forward(r);
    value[n] = r.dst;
  }
  result.loss = run[at(net.loss())].run.loss;
  result.correct = run[at(net.loss())].run.correct;
  result.prediction = value[at(net.prediction())];
  if (!batch.training) return result;

  for (std::size_t n = nodes.size(); n-- > 0;) {
    const bool is_loss = static_cast<int>(n) == net.loss();
    if (!nodes[n].op || (!is_loss && gradient[n].empty())) continue;  // inputs, and what does not lead to the loss
    ops::Reference& r = run[n];
    r.diff_dst = is_loss ? std::vector<double>(r.dst.size(), 0.0) : gradient[n];
    for (const auto& src : r.src) r.diff_src.emplace_back(src.size(), 0.0);
    nodes[n].op->reference_backward(r);
    for (std::size_t s = 0; s < nodes[n].inputs.size(); ++s) {
      if (is_loss && s == 1) continue;
      auto& sum = gradient[at(nodes[n].inputs[s])];
      if (sum.empty()) sum.assign(r.diff_src[s].size(), 0.0);
      for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += r.diff_src[s][i];
    }
    for (std::size_t k = 0; k < owned[n].size(); ++k) result.gradients[owned[n][k]] = r.diff_weights[k];
  }
  return result;
}

// The same numbers as support::input_values and so on, for a whole batch.
inline ReferenceBatch reference_batch(const graph::Network& net, std::int64_t samples, std::uint64_t stream = 0) {
  ReferenceBatch batch;
  batch.samples = samples;
  batch.inputs = widen(input_values(net, samples, stream));
  batch.target = widen(target_values(net, samples, stream));
  batch.indices.resize(static_cast<std::size_t>(samples));
  std::iota(batch.indices.begin(), batch.indices.end(), std::int64_t{100});
  batch.loss_scale = 1.0 / static_cast<double>(samples);
  return batch;
}

// Samples [begin, end) of a batch; the loss scale stays.
inline ReferenceBatch part_of(const graph::Network& net, const ReferenceBatch& batch, base::Range range) {
  ReferenceBatch part = batch;
  part.samples = range.size();
  const auto cut = [&](const std::vector<double>& all, std::int64_t floats) {
    return std::vector<double>(all.begin() + range.begin * floats, all.begin() + range.end * floats);
  };
  for (std::size_t i = 0; i < batch.inputs.size(); ++i)
    part.inputs[i] = cut(batch.inputs[i], net.nodes()[static_cast<std::size_t>(net.inputs()[i])].shape.count());
  part.target = cut(batch.target, net.nodes()[static_cast<std::size_t>(net.target())].shape.count());
  part.indices.assign(batch.indices.begin() + range.begin, batch.indices.begin() + range.end);
  return part;
}

}  // namespace trireme::support
