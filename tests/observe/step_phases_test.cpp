// The table of the phases of a step reaches every field, each once.
#include "observe/step_phases.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace trireme::observe {
namespace {

constexpr StepSeconds kSome{.load = 1, .forward = 2, .backward = 4, .update = 8, .network = 16, .hidden = 32};

TEST(StepPhases, TheTableHasEveryFieldOnce) {
  double sum = 0;
  std::set<std::string> names;
  for (const StepTime& time : kStepTimes) {
    sum += kSome.*time.seconds;
    names.insert(time.name);
  }
  EXPECT_EQ(sum, 63);
  EXPECT_EQ(names.size() * sizeof(double), sizeof(StepSeconds));
}

TEST(StepPhases, HiddenCommunicationIsNoPhase) {
  EXPECT_EQ(kSome.total(), 31);
  EXPECT_EQ(kSome.compute(), 6);
  EXPECT_STREQ(kStepTimes.back().name, "hidden_network");
}

TEST(StepPhases, SumsAndMultiples) {
  StepSeconds sum = kSome;
  sum += kSome * 3;
  EXPECT_EQ(sum, kSome * 4);
  EXPECT_EQ(sum.hidden, 128);
}

}  // namespace
}  // namespace trireme::observe
