// --validation: what is kept apart, on what the best weights are chosen, and how run.json records it.
#include "train/experiment/validation.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "train/experiment/options.h"

namespace trireme::train {
namespace {

ValidationPlan planned(const std::string& validation, bool has_name, std::int64_t samples,
                       const std::string& early_stopping = "0") {
  base::Settings settings(train_options());
  settings.set("validation", validation);
  settings.set("early-stopping", early_stopping);
  return plan_validation(settings, has_name, samples);
}

TEST(Validation, AutoKeepsATenthOfFilesAndFolders) {
  const ValidationPlan own = planned("auto", false, 200);
  EXPECT_EQ(own.best_on, BestOn::validation);
  EXPECT_EQ(own.share, 0.1);
  EXPECT_TRUE(own.is_by_class);
  EXPECT_EQ(own.text, "10%:stratified");
}

TEST(Validation, AutoKeepsNothingOfNamedDatasetsUnlessTheRunStopsEarly) {
  const ValidationPlan named = planned("auto", true, 60000);
  EXPECT_EQ(named.best_on, BestOn::nothing);
  EXPECT_EQ(named.text, "none");
  EXPECT_TRUE(named.notes.empty());
  EXPECT_EQ(planned("auto", true, 60000, "3").text, "10%:stratified");
}

TEST(Validation, AutoLeavesSmallSetsWholeAndSaysSo) {
  EXPECT_EQ(planned("auto", false, 50).best_on, BestOn::validation);
  const ValidationPlan few = planned("auto", false, 49);
  EXPECT_EQ(few.best_on, BestOn::nothing);
  ASSERT_EQ(few.notes.size(), 1u);
  EXPECT_NE(few.notes[0].find("49 training samples"), std::string::npos) << few.notes[0];
  EXPECT_EQ(planned("auto", false, 49, "3").best_on, BestOn::validation);
}

TEST(Validation, NoShareMeansTheTestSetAndSaysSo) {
  for (const char* zero : {"0%", "0"}) {
    const ValidationPlan plan = planned(zero, true, 100, "2");
    EXPECT_EQ(plan.best_on, BestOn::test);
    EXPECT_EQ(plan.text, "0%");
    ASSERT_EQ(plan.notes.size(), 1u);
    EXPECT_NE(plan.notes[0].find("test set"), std::string::npos) << plan.notes[0];
  }
}

TEST(Validation, ThePlanIsRecordedSoThatItIsReadAgain) {
  for (const char* text : {"auto", "none", "0%", "25%", "0.25", "25%:random", "25%:stratified"}) {
    const ValidationPlan plan = planned(text, false, 1000);
    const ValidationPlan again = planned(plan.text, false, 1000);
    EXPECT_EQ(again.text, plan.text) << text;
    EXPECT_EQ(again.best_on, plan.best_on) << text;
    EXPECT_EQ(again.share, plan.share) << text;
    EXPECT_EQ(again.is_by_class, plan.is_by_class) << text;
    EXPECT_EQ(recorded_validation(plan.text), plan.text) << text;
    EXPECT_TRUE(same_validation(plan.text, text)) << text;
  }
  EXPECT_FALSE(planned("25%:random", false, 1000).is_by_class);
}

TEST(Validation, OlderRunsDrewFromAllSamples) {
  EXPECT_EQ(recorded_validation("25%"), "25%:random");
  EXPECT_EQ(recorded_validation("0%"), "0%");
  EXPECT_FALSE(same_validation("25%:random", "25%"));
}

TEST(Validation, EarlyStoppingNeedsSamplesToLookAt) {
  EXPECT_THROW(planned("none", true, 1000, "3"), base::Error);
  EXPECT_THROW(planned("200%", true, 1000), base::Error);
  EXPECT_THROW(planned("some", true, 1000), base::Error);
}

}  // namespace
}  // namespace trireme::train
