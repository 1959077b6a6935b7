// The rules of thumb behind `trireme init`.
#include "train/starter/starter.h"

#include <gtest/gtest.h>

namespace trireme::train {
namespace {

DataSurvey images(std::int64_t samples, std::int64_t side) {
  DataSurvey survey;
  survey.spec.inputs = {{3, 32, 32}};
  survey.spec.classes = 3;
  survey.kind = SampleKind::image;
  survey.train = samples;
  survey.median = {side, side};
  return survey;
}
DataSurvey rows(std::int64_t samples) {
  DataSurvey survey = images(samples, 0);
  survey.spec.inputs = {{1, 36}};
  survey.kind = SampleKind::row;
  return survey;
}

TEST(Starter, SmallSetsSeeEnoughSteps) {
  for (const std::int64_t samples : {100, 240, 1000, 5000, 60000}) {
    const StarterPlan plan = plan_start(images(samples, 100));
    EXPECT_GE(plan.steps, 1500) << samples;
    EXPECT_LE(plan.epochs, 300) << samples;
    EXPECT_LE(plan.oars * 8, std::max<std::int64_t>(plan.batch, 8)) << "8 samples an oar for batch norm";
    EXPECT_GE(plan_start(rows(samples)).steps, 3000) << samples;
  }
  EXPECT_EQ(plan_start(images(240, 100)).batch, 16);
  EXPECT_EQ(plan_start(images(60000, 100)).batch, 128);
}

TEST(Starter, TinySetsAreNotAskedForMoreThanTheyHave) {
  const StarterPlan plan = plan_start(images(5, 100));
  EXPECT_EQ(plan.batch, 5);
  EXPECT_EQ(plan.oars, 1);
  EXPECT_EQ(plan.validation, "none");
  EXPECT_EQ(plan_start(images(50, 100)).validation, "10%");
}

TEST(Starter, TheNetworkFollowsTheSizeOfTheImages) {
  EXPECT_EQ(plan_start(images(240, 30)).model, "resnet20-cifar");
  const StarterPlan photos = plan_start(images(240, 100));
  EXPECT_TRUE(photos.model.empty());
  EXPECT_EQ(photos.image_size, 64);
  EXPECT_NE(starter_network(photos, images(240, 100)).find("shape = [3, 64, 64]"), std::string::npos);
}

TEST(Starter, TextsAreWrittenAsTomlReadsThem) {
  const DataSurvey survey = rows(300);
  const StarterNames names{"/tmp/a \"b\"\\c/Würfel.csv", "", "classes", "mlp", "first/train.toml"};
  const std::string text = starter_config(plan_start(survey), survey, names);
  EXPECT_NE(text.find(R"(data = "/tmp/a \"b\"\\c/Würfel.csv")"), std::string::npos) << text;
}

}  // namespace
}  // namespace trireme::train
