// Every kernel against its reference, in every layout it may be offered, and its bits against its bits.
#include <gtest/gtest.h>

#include "base/cpu/simd.h"
#include "ops/cases/kernel_run.h"

namespace trireme::optest {
namespace {

using tensor::Layout;

class Kernel : public testing::TestWithParam<std::string> {
 protected:
  // Calls f(case) for the cases of the family.
  template <class F>
  void for_each_case(const F& f) {
    for (const OpCase& c : op_cases()) {
      if (c.family() != GetParam()) continue;
      SCOPED_TRACE(c.name);
      f(c);
    }
  }
};

std::vector<std::string> own_families() {
  std::vector<std::string> names = families();
  std::erase_if(names, runs_in_onednn);
  return names;
}

void expect_right(const OpCase& c, const CaseData& data, const KernelResult& got) {
  const Bounds bounds = c.bound(*c.op, data.exact, data.diff_dst);
  expect_within("dst", data.exact.dst, got.dst, bounds.dst);
  if (c.op->is_loss()) {
    double loss = 0, bound = 1e-15;
    for (const float own : got.dst) loss += static_cast<double>(own);
    for (const double own : bounds.dst) bound += own;
    EXPECT_DOUBLE_EQ(got.loss, loss);
    EXPECT_NEAR(got.loss, data.exact.run.loss, bound);
    EXPECT_DOUBLE_EQ(got.correct, data.exact.run.correct);
  }
  if (!data.exact.training) return;
  for (std::size_t s = 0; s < got.diff_src.size(); ++s)
    expect_within("diff_src " + std::to_string(s), data.exact.diff_src[s], got.diff_src[s], bounds.diff_src[s]);
  for (std::size_t p = 0; p < got.diff_weights.size(); ++p)
    expect_within("diff_weights " + std::to_string(p), data.exact.diff_weights[p], got.diff_weights[p],
                  bounds.diff_weights[p]);
}

TEST_P(Kernel, EqualsTheReferenceWithinRounding) {
  for_each_case([](const OpCase& c) {
    const CaseData training = make_data(c, true), inference = make_data(c, false);
    for (const Offer& offer : offers(c)) {
      SCOPED_TRACE(offer.name);
      expect_right(c, training, run_kernel(c, training, {.offered = offer.layouts, .slot = 1}));
      expect_right(c, inference, run_kernel(c, inference, {.offered = offer.layouts, .training = false}));
    }
  });
}

// Another Program may have fixed the layout of the weights: plain is one that kernels seldom choose themselves.
TEST_P(Kernel, TakesWeightsInAGivenLayout) {
  for_each_case([](const OpCase& c) {
    const CaseData data = make_data(c, true), inference = make_data(c, false);
    for (const Offer& offer : offers(c)) {
      std::vector<Layout> plain;
      for (const Layout& own : run_kernel(c, data, {.offered = offer.layouts}).weight_layouts)
        plain.push_back(Layout::plain(own.shape));
      SCOPED_TRACE(offer.name);
      const KernelResult got = run_kernel(c, data, {.offered = offer.layouts, .fixed_weights = plain});
      EXPECT_EQ(got.weight_layouts, plain);
      expect_right(c, data, got);
      expect_right(c, inference,
                   run_kernel(c, inference, {.offered = offer.layouts, .fixed_weights = plain, .training = false}));
    }
  });
}

TEST_P(Kernel, GivesTheSameBitsAgainInAnySlotAndInPlace) {
  for_each_case([](const OpCase& c) {
    const CaseData data = make_data(c, true), inference = make_data(c, false);
    for (const Offer& offer : offers(c)) {
      SCOPED_TRACE(offer.name);
      const KernelResult first = run_kernel(c, data, {.offered = offer.layouts});
      expect_same_bits("again", first, run_kernel(c, data, {.offered = offer.layouts}));
      expect_same_bits("slot 1", first, run_kernel(c, data, {.offered = offer.layouts, .slot = 1}));
      expect_same_bits("in place", first, run_kernel(c, data, {.offered = offer.layouts, .in_place = true}));
      expect_same_bits("inference in place", run_kernel(c, inference, {.offered = offer.layouts, .training = false}),
                       run_kernel(c, inference, {.offered = offer.layouts, .training = false, .in_place = true}));
    }
  });
}

// Kernels of this project; oneDNN's instruction set can be set only once per process, and its bits depend on it.
class OwnKernel : public Kernel {};

TEST_P(OwnKernel, GivesTheSameBitsOnEveryInstructionSet) {
  const base::Isa before = base::active_isa();
  for_each_case([&](const OpCase& c) {
    const CaseData data = make_data(c, true);
    for (const Offer& offer : offers(c)) {
      SCOPED_TRACE(offer.name);
      base::set_active_isa(base::Isa::generic);
      const KernelResult generic = run_kernel(c, data, {.offered = offer.layouts});
      for (const base::Isa isa : {base::Isa::avx2, base::Isa::avx512}) {
        if (isa > base::best_isa()) continue;
        base::set_active_isa(isa);
        expect_same_bits(std::string(base::isa_name(isa)), generic, run_kernel(c, data, {.offered = offer.layouts}));
      }
    }
  });
  base::set_active_isa(before);
}

INSTANTIATE_TEST_SUITE_P(Ops, Kernel, testing::ValuesIn(families()), [](const auto& tested) { return tested.param; });
INSTANTIATE_TEST_SUITE_P(Ops, OwnKernel, testing::ValuesIn(own_families()),
                         [](const auto& tested) { return tested.param; });

}  // namespace
}  // namespace trireme::optest
