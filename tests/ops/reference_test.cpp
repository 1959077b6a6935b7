// The reference's gradients against central finite differences of the reference itself, for sum(c_i dst_i) with random
// c (a loss: the sum of its samples, scaled). One random direction per tensor reaches every element, and some elements
// are tried alone.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "base/rng.h"
#include "ops/cases/case_data.h"

namespace trireme::optest {
namespace {

constexpr double kStep = 1e-5;

class ReferenceGradient : public testing::TestWithParam<std::string> {};

// (f(x + h v) - f(x - h v)) / 2h along a change of one tensor. Differences are taken before they are added up.
double slope(const OpCase& c, const CaseData& data, std::vector<double>& tensor, Reference& scratch,
             const std::vector<std::pair<std::size_t, double>>& direction) {
  const std::vector<double> before = tensor;
  const auto dst_at = [&](double step) {
    for (const auto& [i, v] : direction) tensor[i] = before[i] + step * v;
    c.op->reference_forward(scratch);
    return scratch.dst;
  };
  const std::vector<double> high = dst_at(kStep), low = dst_at(-kStep);
  tensor = before;
  double sum = 0;
  for (std::size_t i = 0; i < high.size(); ++i) {
    const double weight = c.op->is_loss() ? static_cast<double>(scratch.run.loss_scale) : data.diff_dst[i];
    sum += weight * (high[i] - low[i]) / (2 * kStep);
  }
  return sum;
}

void check_tensor(const std::string& what, const OpCase& c, const CaseData& data, std::vector<double>& tensor,
                  Reference& scratch, const std::vector<double>& gradient) {
  ASSERT_EQ(tensor.size(), gradient.size()) << what;
  const base::CounterRng rng(3, base::Purpose::probe, 9, tensor.size());
  const auto compare = [&](const std::string& where, double found, double expected) {
    EXPECT_NEAR(found, expected, 1e-6 * (1 + std::abs(expected))) << what << " " << where;
  };
  std::vector<std::pair<std::size_t, double>> direction;
  double norm = 0, expected = 0;
  for (std::size_t i = 0; i < tensor.size(); ++i) {
    direction.emplace_back(i, 2 * static_cast<double>(rng.uniform(i)) - 1);
    norm += direction[i].second * direction[i].second;
  }
  for (auto& [i, v] : direction) {
    v /= std::sqrt(norm);
    expected += v * gradient[i];
  }
  compare("along a direction", slope(c, data, tensor, scratch, direction), expected);
  const double work = std::max(1.0, c.op->cost(c.shapes).flops);
  const auto tried = static_cast<std::size_t>(std::clamp(2e7 / work, 2.0, 40.0));
  for (std::size_t k = 0; k < std::min(tried, tensor.size()); ++k) {
    const std::size_t i = tensor.size() <= tried ? k : rng.below(tensor.size() + k, tensor.size());
    compare("element " + std::to_string(i), slope(c, data, tensor, scratch, {{i, 1.0}}), gradient[i]);
  }
}

TEST_P(ReferenceGradient, EqualsFiniteDifferences) {
  for (const OpCase& c : op_cases()) {
    if (c.family() != GetParam()) continue;
    SCOPED_TRACE(c.name);
    const CaseData data = make_data(c, true);
    Reference scratch = data.exact;
    for (std::size_t s = 0; s < scratch.src.size(); ++s)
      if (!data.exact.diff_src[s].empty())
        check_tensor("src " + std::to_string(s), c, data, scratch.src[s], scratch, data.exact.diff_src[s]);
    const auto specs = c.op->parameters(c.shapes);
    for (std::size_t p = 0; p < specs.size(); ++p)
      if (!specs[p].is_statistic())
        check_tensor(specs[p].name, c, data, scratch.weights[p], scratch, data.exact.diff_weights[p]);
  }
}

INSTANTIATE_TEST_SUITE_P(Ops, ReferenceGradient, testing::ValuesIn(families()),
                         [](const auto& tested) { return tested.param; });

}  // namespace
}  // namespace trireme::optest
