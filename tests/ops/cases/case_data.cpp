#include "ops/cases/case_data.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "base/rng.h"

namespace trireme::optest {
namespace {

// Outputs of a ReLU nearer than this to its bend get no gradient: neither rounding nor a finite difference of 1e-5 may
// move them across.
constexpr double kBend = 1e-3;

std::vector<double> draw(Values values, const Shape& shape, std::int64_t classes, std::uint64_t stream) {
  const base::CounterRng rng(7, base::Purpose::probe, 1, stream);
  const auto count = static_cast<std::size_t>(shape.count());
  const auto uniform = [&](std::size_t i) { return static_cast<double>(rng.uniform(i)); };
  const auto nonzero = [&](std::size_t i) {
    return (rng.bits(i + count) % 2 == 0 ? 1 : -1) * (0.05 + 0.95 * uniform(i));
  };
  std::vector<std::size_t> order(count);
  if (values == Values::distinct) {
    std::iota(order.begin(), order.end(), std::size_t{0});
    for (std::size_t i = count; i > 1; --i) std::swap(order[i - 1], order[rng.below(i, i)]);
  }
  std::vector<double> result(count);
  for (std::size_t i = 0; i < count; ++i) {
    const auto channel = shape.rank() < 2 ? 0 : static_cast<std::int64_t>(i) / shape.count_from(2) % shape[1];
    switch (values) {
      case Values::spread: result[i] = 1.9 * uniform(i) - 0.95; break;
      case Values::nonzero: result[i] = nonzero(i); break;
      case Values::distinct: result[i] = 2.0 * static_cast<double>(order[i]) / static_cast<double>(count) - 1; break;
      case Values::shifted: result[i] = 2 * uniform(i) - 1 + 0.7 * static_cast<double>(channel % 5 - 2); break;
      case Values::logits: result[i] = 4 * nonzero(i); break;
      case Values::classes: result[i] = static_cast<double>(rng.below(i, static_cast<std::uint64_t>(classes))); break;
      case Values::labels: result[i] = static_cast<double>(rng.bits(i) % 2); break;
    }
    result[i] = static_cast<double>(static_cast<float>(result[i]));
  }
  return result;
}

// A parameter as a trained network might hold it.
std::vector<double> draw(const ops::ParameterSpec& spec, std::uint64_t stream) {
  std::vector<double> values = draw(Values::nonzero, spec.shape, 0, stream);
  for (double& v : values) {
    if (spec.role == ops::Role::running_variance) v = 0.5 + std::abs(v);
    if (spec.role == ops::Role::scale) v = v < 0 ? v - 0.5 : v + 0.5;
    v = static_cast<double>(static_cast<float>(v));
  }
  return values;
}

}  // namespace

ops::OarRun oar_run(std::int64_t samples) {
  static const auto indices = [] {
    std::array<std::int64_t, 64> all{};
    for (std::size_t i = 0; i < all.size(); ++i) all[i] = static_cast<std::int64_t>(1'000'003 * i + 7);
    return all;
  }();
  ops::OarRun run;
  run.seed = 5;
  run.epoch = 2;
  run.sample_indices = std::span(indices).first(static_cast<std::size_t>(samples));
  run.loss_scale = 0.25f;
  return run;
}

CaseData make_data(const OpCase& c, bool training) {
  CaseData data;
  Reference& r = data.exact;
  r.shapes = c.shapes;
  r.training = training;
  r.run = oar_run(c.shapes[0][0]);
  std::uint64_t stream = 0;
  for (std::size_t s = 0; s < c.shapes.size(); ++s) {
    const Values values = s < c.values.size() ? c.values[s] : Values::spread;
    r.src.push_back(draw(values, c.shapes[s], c.shapes[0][1], ++stream));
    r.diff_src.emplace_back(c.op->is_loss() && s == 1 ? 0 : r.src[s].size());
  }
  for (const ops::ParameterSpec& spec : c.op->parameters(c.shapes)) {
    r.weights.push_back(draw(spec, ++stream));
    r.diff_weights.emplace_back(r.weights.back().size());
  }
  const Shape out = c.op->output(c.shapes);
  r.dst.resize(static_cast<std::size_t>(out.count()));
  r.diff_dst = draw(Values::nonzero, out, 0, ++stream);
  if (c.before_relu) {
    Reference before = r;
    c.before_relu->reference_forward(before);
    for (std::size_t i = 0; i < before.dst.size(); ++i)
      if (std::abs(before.dst[i]) < kBend) r.diff_dst[i] = 0;
  }
  data.diff_dst = r.diff_dst;
  c.op->reference_forward(r);
  if (training) c.op->reference_backward(r);
  return data;
}

}  // namespace trireme::optest
