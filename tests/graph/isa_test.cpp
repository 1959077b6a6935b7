// Every instruction set gives right results: this program runs its comparisons with the reference again on the lower
// ones. oneDNN takes the instruction set once in a process, so each needs its own.
#include <gtest/gtest.h>

#include <cstdlib>

#include "base/cpu/simd.h"
#include "support/core_rerun.h"

namespace trireme::graph {
namespace {

constexpr const char* kName = "TRIREME_TEST_ISA";

// Before any test runs.
class ChosenIsa : public ::testing::Environment {
 public:
  void SetUp() override {
    if (const char* name = std::getenv(kName)) base::set_active_isa(base::parse_isa(name));
  }
};
[[maybe_unused]] const auto* const kChosen = ::testing::AddGlobalTestEnvironment(new ChosenIsa);

void expect_right_on(base::Isa isa) {
  if (isa >= base::best_isa())
    GTEST_SKIP() << "this CPU's best instruction set is " << base::isa_name(base::best_isa());
  const support::Rerun run = support::rerun(std::string(kName) + "=" + std::string(base::isa_name(isa)),
                                            "Autodiff.*Match*:Autodiff.Inference*:MemoryPlan.Poisoned*:SteadyState.*");
  EXPECT_EQ(run.status, 0) << run.text;
  EXPECT_NE(run.text.find("[  PASSED  ] 7 tests"), std::string::npos) << run.text;
}

TEST(InstructionSets, Avx2IsRight) { expect_right_on(base::Isa::avx2); }
TEST(InstructionSets, GenericIsRight) { expect_right_on(base::Isa::generic); }

}  // namespace
}  // namespace trireme::graph
