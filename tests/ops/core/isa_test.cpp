// The kernels on instruction sets below this machine's best. oneDNN takes its own once per process, so this program
// runs itself again with the set named in TRIREME_TEST_ISA.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <string>

#include "base/cpu/simd.h"
#include "support/process.h"

namespace trireme::optest {
namespace {

constexpr const char* kVariable = "TRIREME_TEST_ISA";

class NamedIsa : public testing::Environment {
  void SetUp() override {
    if (const char* name = std::getenv(kVariable)) base::set_active_isa(base::parse_isa(name));
  }
};
[[maybe_unused]] const testing::Environment* const named_isa = testing::AddGlobalTestEnvironment(new NamedIsa);

class LowerIsa : public testing::TestWithParam<base::Isa> {};

TEST_P(LowerIsa, KernelsAreRight) {
  if (GetParam() >= base::best_isa()) GTEST_SKIP() << "this CPU's best is " << base::isa_name(base::best_isa());
  const std::string self = std::filesystem::read_symlink("/proc/self/exe").string();
  const auto finished =
      test::run_process({self, "--gtest_brief=1", "--gtest_filter=Ops/Kernel.*:-*/LowerIsa*"},
                        {std::string(kVariable) + "=" + std::string(base::isa_name(GetParam()))}, 300);
  EXPECT_FALSE(finished.timed_out);
  EXPECT_EQ(finished.exit_code, 0) << finished.out << finished.err;
}

INSTANTIATE_TEST_SUITE_P(Ops, LowerIsa, testing::Values(base::Isa::generic, base::Isa::avx2),
                         [](const auto& tested) { return std::string(base::isa_name(tested.param)); });

}  // namespace
}  // namespace trireme::optest
