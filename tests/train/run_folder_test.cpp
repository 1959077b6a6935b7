// What a run folder's options mean: intervals of checkpoints, rates after a divergence, the list of starts.
#include <gtest/gtest.h>

#include <random>

#include "base/error.h"
#include "support/temporary_folder.h"
#include "train/experiment/options.h"
#include "train/run_folder/checkpoint_interval.h"
#include "train/run_folder/disk_space.h"
#include "train/run_folder/lower_rate.h"
#include "train/run_folder/run_history.h"

namespace trireme::train {
namespace {

TEST(CheckpointInterval, HasAUnit) {
  const auto parse = [](const char* text) { return parse_checkpoint_interval("--checkpoint-every", text); };
  EXPECT_EQ(parse("500").steps, 500);
  EXPECT_EQ(parse("1step").steps, 1);
  EXPECT_EQ(parse("2epochs").epochs, 2);
  EXPECT_EQ(parse("30s").seconds, 30);
  EXPECT_EQ(parse("10min").seconds, 600);
  EXPECT_EQ(parse("1.5h").seconds, 5400);
  for (const char* none : {"0", "0s", "0epochs"}) {
    EXPECT_EQ(parse(none).steps, 0);
    EXPECT_EQ(parse(none).epochs, 0);
    EXPECT_EQ(parse(none).seconds, 0);
  }
}

// Whatever is given is an interval that is not negative, or a user error that repeats it.
TEST(CheckpointInterval, AnythingElseIsAUserError) {
  std::mt19937 random(3);
  const std::string letters = "0123456789.eE+-smhinepochstf \x01\xff";
  int refused = 0;
  for (int i = 0; i < 20000; ++i) {
    std::string text;
    for (unsigned size = random() % 8; size > 0; --size) text += letters[random() % letters.size()];
    try {
      const CheckpointInterval interval = parse_checkpoint_interval("--checkpoint-every", text);
      EXPECT_GE(interval.steps, 0);
      EXPECT_GE(interval.epochs, 0);
      EXPECT_GE(interval.seconds, 0);
      EXPECT_LE((interval.steps > 0) + (interval.epochs > 0) + (interval.seconds > 0), 1);
    } catch (const base::Error& error) {
      ++refused;
      EXPECT_EQ(error.kind(), base::ErrorKind::user);
      EXPECT_NE(std::string(error.what()).find("'" + text + "'"), std::string::npos);
    }
  }
  EXPECT_GT(refused, 10000);
}

TEST(LowerRate, IsATenthAndAtMostAHundredth) {
  const auto options = [](const char* optimizer, const char* schedule, const char* clip) {
    base::Settings settings(train_options());
    settings.set("optimizer", optimizer);
    settings.set("schedule", schedule);
    settings.set("clip", clip);
    return options_for_lower_rate(settings, 0.001);
  };
  EXPECT_EQ(options("sgd:lr=0.05,momentum=0.9", "cosine", "0"), " --optimizer sgd:lr=0.005,momentum=0.9 --clip 1");
  EXPECT_EQ(options("sgd:momentum=0.9,lr=1e38", "cosine:min=0.1", "5"),
            " --optimizer sgd:momentum=0.9,lr=0.01 --clip 0.5");
  EXPECT_EQ(options("adam", "constant", "100"), " --optimizer adam:lr=0.0001 --clip 1");
  EXPECT_EQ(options("sgd:lr=1", "step:2=1e38,30=0.01,warmup=1", "0"),
            " --optimizer sgd:lr=0.01 --schedule step:2=0.01,30=0.001,warmup=1 --clip 1");
  EXPECT_EQ(options("sgd:lr=1", "onecycle:peak=0.05,warm=30%", "0"),
            " --optimizer sgd:lr=0.01 --schedule onecycle:peak=0.005,warm=30% --clip 1");
}

TEST(RunHistory, SurvivesJson) {
  const std::vector<RunStart> starts{
      {"2026-01-31T12:00:00Z", "host", "trireme train --run 'a b'", 0, {}},
      {"2026-02-01T12:00:00Z", "other", "trireme \"x\" \\", 12, {{"clip", "0", "1"}, {"data", "a\nb", ""}}}};
  const std::vector<RunStart> read = starts_from_json(to_json(starts));
  ASSERT_EQ(read.size(), 2u);
  EXPECT_EQ(to_json(read), to_json(starts));
  EXPECT_EQ(read[1].changes[1].from, "a\nb");
  for (const char* damaged : {"", "{", "[1]", "[{}]", "{\"a\":1}", "[{\"date\":3}]"})
    EXPECT_TRUE(starts_from_json(damaged).empty()) << damaged;
}

TEST(DiskSpace, IsThatOfTheNearestFolder) {
  const test::TemporaryFolder folder;
  EXPECT_GT(free_bytes(folder / "not/there"), 0u);
  EXPECT_LT(free_bytes(folder / "not/there"), std::uint64_t{1} << 60);
  EXPECT_EQ(what_to_free("cannot write x: Permission denied", folder / "r", 1), "");
  const std::string huge =
      what_to_free("cannot write x: No space left on device", folder / "r", std::uint64_t{1} << 62);
  EXPECT_NE(huge.find("free at least"), std::string::npos) << huge;
  EXPECT_NE(huge.find((folder / "r").string() + ", which has"), std::string::npos) << huge;
}

}  // namespace
}  // namespace trireme::train
