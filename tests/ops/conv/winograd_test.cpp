// What is promised of the Winograd convolution beyond what every kernel is held to: equal bits on every instruction
// set, and for a batch as for its samples one by one.
#include <gtest/gtest.h>

#include "base/cpu/simd.h"
#include "ops/cases/kernel_run.h"
#include "ops/conv/conv.h"

namespace trireme::optest {
namespace {

using tensor::Layout;

std::vector<const OpCase*> winograd_cases() {
  std::vector<const OpCase*> cases;
  for (const OpCase& c : op_cases())
    if (c.name.starts_with("winograd")) cases.push_back(&c);
  return cases;
}

TEST(Winograd, GivesTheSameBitsOnEveryInstructionSet) {
  const base::Isa before = base::active_isa();
  ASSERT_FALSE(winograd_cases().empty());
  for (const OpCase* c : winograd_cases()) {
    SCOPED_TRACE(c->name);
    const CaseData data = make_data(*c, true);
    const std::vector<Layout> offered{Layout::plain(c->shapes[0])};
    base::set_active_isa(base::Isa::generic);
    const KernelResult generic = run_kernel(*c, data, {.offered = offered});
    for (const base::Isa isa : {base::Isa::avx2, base::Isa::avx512}) {
      if (isa > base::best_isa()) continue;
      base::set_active_isa(isa);
      expect_same_bits(std::string(base::isa_name(isa)), generic, run_kernel(*c, data, {.offered = offered}));
    }
  }
  base::set_active_isa(before);
}

}  // namespace
}  // namespace trireme::optest
