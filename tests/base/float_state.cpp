// A thread team makes its caller flush denormals to zero. Every test begins without that, as a new process does.
#include <gtest/gtest.h>
#include <xmmintrin.h>

namespace trireme::base {
namespace {

class FreshFloatState : public testing::EmptyTestEventListener {
  void OnTestStart(const testing::TestInfo&) override { _mm_setcsr(state_); }
  const unsigned state_ = _mm_getcsr();
};

const bool kIsRegistered = [] {
  testing::UnitTest::GetInstance()->listeners().Append(new FreshFloatState);
  return true;
}();

}  // namespace
}  // namespace trireme::base
