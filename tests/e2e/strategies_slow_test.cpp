// The promise of the engine over processes: the same results for every synchronous way to run, on networks with and
// without running statistics and dropout, for 60 steps.
#include "e2e/strategies.h"

namespace trireme::test {
namespace {

struct Experiment {
  const char* name;
  const char* options;
  bool is_whole = false;  // otherwise a few ways are enough
};

class SameResults : public Strategies, public testing::WithParamInterface<Experiment> {};

TEST_P(SameResults, ForEverySynchronousWay) {
  const Arguments options = words(
                                "--data synthetic --train-samples 250 --test-samples 70 --batch 32 --oars 8 --steps 60 "
                                "--threads 1") +
                            words(GetParam().options);
  const Json expected = results(options);
  ASSERT_EQ(expected.value("weights_sha256", "").size(), 64u);
  std::vector<std::string> ways{"--threads 2",
                                "--workers 3",
                                "--workers 4 --transport tcp",
                                "--workers 2 --strategy allreduce:algorithm=direct",
                                "--workers 3 --assign 5,1,2",
                                "--workers 3 --servers 2 --strategy ps",
                                "--workers 2 --servers 2 --server-place worker --strategy ps:return=gradients",
                                "--workers 3 --strategy switch:at=50%,from=allreduce,to=ps,at=80%,to=allreduce"};
  if (GetParam().is_whole) {
    ways.insert(ways.end(), {"--workers 2 --tls --transport tcp", "--workers 2 --strategy ps",
                             "--workers 2 --servers 1 --server-place worker --strategy ps",
                             "--workers 2 --servers 1 --strategy ps:return=gradients"});
    for (const char* workers : {"2", "3", "4"})
      for (const char* algorithm : {"auto", "direct"})
        for (const char* transport : {"auto", "tcp"})
          ways.push_back(std::string("--workers ") + workers + " --strategy allreduce:algorithm=" + algorithm +
                         " --transport " + transport);
  }
  for (const std::string& way : ways) EXPECT_EQ(difference(results(options + words(way)), expected), "") << way;
}

// Several inputs; its kernels take long to be tried.
TEST_F(Strategies, OfANetworkWithSeveralInputs) {
  const Arguments options = words(
      "--model landcover-cnn --data synthetic --train-samples 4 --test-samples 2 --batch 4 "
      "--oars 4 --steps 2 --threads 1");
  const Json expected = results(options);
  EXPECT_EQ(difference(results(options + words("--workers 3")), expected), "");
  EXPECT_EQ(difference(results(options + words("--workers 2 --strategy ps")), expected), "");
}

INSTANTIATE_TEST_SUITE_P(
    Of, SameResults,
    testing::Values(Experiment{"resnet20", "--model resnet20-cifar"},
                    Experiment{"mnist_cnn", "--model mnist-cnn", true},
                    Experiment{"clip", "--model mnist-cnn --clip 1"},
                    Experiment{"adam", "--model mnist-cnn --optimizer adam"},
                    Experiment{"adam_clip_augment",
                               "--model resnet20-cifar --steps 12 --optimizer adam --clip 0.1 --augment crop,flip"}),
    [](const auto& test) { return std::string(test.param.name); });

}  // namespace
}  // namespace trireme::test
