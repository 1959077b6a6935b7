// Strategies by the real program, as far as a second or two each is enough: the same results for every synchronous one,
// what asynchronous ones promise, and going on with a run in another way.
#include "e2e/strategies.h"

#include <algorithm>
#include <map>

namespace trireme::test {
namespace {

const Arguments kShort = words(
    "--model lenet5 --data synthetic --train-samples 90 --test-samples 40 --batch 32 "
    "--oars 8 --threads 1");

TEST_F(Strategies, SynchronousOnesHaveTheSameResults) {
  const Arguments small = kShort + words("--steps 14");
  const Json expected = results(small);
  ASSERT_EQ(expected.value("weights_sha256", "").size(), 64u);
  for (const char* way :
       {"--threads 2", "--workers 3", "--workers 2 --transport tcp --strategy allreduce:algorithm=direct",
        "--workers 3 --assign 5,1,2", "--workers 3 --assign 0,8,0", "--workers 8 --evaluate first",
        "--workers 3 --servers 2 --strategy ps", "--workers 2 --servers 2 --server-place worker --strategy ps",
        "--workers 2 --servers 1 --strategy ps:return=gradients,bucket=16", "--workers 1 --strategy ps",
        "--workers 1 --strategy ps --server-place worker",
        "--workers 3 --assign 5,1,2 --servers 2 --strategy ps:levels=2",
        "--workers 2 --transport tcp --server-place worker --strategy ps:levels=2,return=gradients",
        "--workers 3 --servers 2 --strategy switch:at=50%,from=allreduce,to=ps,at=70%,to=allreduce",
        "--workers 2 --servers 7 --checkpoint-every 3 --strategy ps",  // some servers have nothing to hold
        "--workers 3 --slow worker=1,factor=4"})
    EXPECT_EQ(difference(results(small + words(way)), expected), "") << way;
}

// Of two workers with half of the oars each, one partial each: half of it goes to the other, and half of the sum; or
// all of it to the server, and weights come back. The rest is words, and handing over.
TEST_F(Strategies, WhatIsSentAndReceivedIsCounted) {
  constexpr double kSteps = 14, kRest = 1.25;
  for (const char* way : {"allreduce", "allreduce --transport tcp", "ps", "ps --transport tcp"}) {
    const Json summary =
        summary_of(train(kShort + words("--steps 14 --assign even --workers 2 --strategy") + words(way)));
    const double once = kSteps * 4 * summary.value("parameters", 0.0);
    const auto expect = [&](double bytes, double least) {
      EXPECT_GE(bytes, least) << way;
      EXPECT_LE(bytes, kRest * least) << way;
    };
    for (const Json& worker : summary.at("per_worker"))
      for (const char* bytes : {"sent_bytes", "received_bytes"}) expect(worker.at(bytes), once);
    for (const Json& server : summary.value("per_server", Json::array()))
      for (const char* bytes : {"sent_bytes", "received_bytes"}) expect(server.at(bytes), 2 * once);
    EXPECT_EQ(summary.contains("per_server"), std::string(way).starts_with("ps"));
  }
}

// What comes with data and lengths: the same for one worker, for three that all-reduce and for two with a server.
struct Corner {
  const char* name;
  const char* options;
};
class Corners : public Strategies, public testing::WithParamInterface<Corner> {};

TEST_P(Corners, HaveTheSameResults) {
  const Arguments options = words("--data synthetic --threads 1 --test-samples 40") + words(GetParam().options);
  const Json expected = results(options);
  ASSERT_EQ(expected.value("weights_sha256", "").size(), 64u);
  EXPECT_EQ(difference(results(options + words("--workers 3")), expected), "") << "allreduce";
  EXPECT_EQ(difference(results(options + words("--workers 2 --strategy ps")), expected), "") << "ps";
}

INSTANTIATE_TEST_SUITE_P(
    Of, Corners,
    testing::Values(
        Corner{"early_stopping",
               "--model lenet5 --train-samples 64 --batch 16 --oars 4 --epochs 9 --early-stopping 1 "
               "--optimizer sgd:lr=0.3"},
        Corner{"validation", "--model lenet5 --train-samples 100 --batch 16 --oars 4 --epochs 2 --validation 30%"},
        Corner{"last_batch_dropped",
               "--model lenet5 --train-samples 70 --batch 16 --oars 4 --epochs 2 --last-batch drop"},
        Corner{"last_batch_of_fewer_samples_than_oars",
               "--model lenet5 --train-samples 66 --batch 16 --oars 8 --epochs 2"},
        Corner{"last_batch_of_one_sample", "--model mnist-cnn --train-samples 33 --batch 32 --oars 8 --epochs 2"},
        Corner{"one_test_sample", "--model lenet5 --train-samples 32 --batch 16 --oars 4 --epochs 1 --test-samples 1"},
        Corner{"values", "--model lenet5 --target values --train-samples 64 --batch 16 --oars 4 --epochs 2"},
        Corner{"several_labels", "--model lenet5 --target labels --train-samples 64 --batch 16 --oars 4 --epochs 2"},
        Corner{"spectra", "--model redshift-cnn --train-samples 40 --batch 8 --oars 4 --steps 6"},
        Corner{"penalty", "--model resnet56v2-cifar --train-samples 16 --batch 8 --oars 4 --steps 2"},
        Corner{"checkpoints", "--model lenet5 --train-samples 90 --batch 16 --oars 4 --epochs 2 --checkpoint-every 2"}),
    [](const auto& test) { return std::string(test.param.name); });

TEST_F(Strategies, OneOarOfOneSample) {
  const Arguments tiny =
      words("--model lenet5 --data synthetic --train-samples 6 --test-samples 3 --batch 1 --oars 1 --epochs 2");
  const Json expected = results(tiny);
  EXPECT_EQ(difference(results(tiny + words("--workers 1 --strategy ps")), expected), "");
  EXPECT_EQ(difference(results(tiny + words("--workers 1 --strategy allreduce")), expected), "");
}

// Where every worker goes its own way.
struct Asynchronous {
  const char* name;
  const char* options;
  std::int64_t bound = -1;  // none
};
class AsynchronousOnes : public Strategies, public testing::WithParamInterface<Asynchronous> {};

TEST_P(AsynchronousOnes, UseEverySampleOnceAndKeepTheBound) {
  // Intervals of 3 steps: many ends, at which workers must not wait for each other in vain.
  constexpr std::int64_t kSamples = 210, kWorkers = 3;
  const std::string run = new_folder();
  const Json summary =
      summary_of(train(kShort + words("--train-samples 210 --epochs 3 --checkpoint-every 3 --workers 3") +
                       words(GetParam().options) + Arguments{"--run", run}));
  EXPECT_EQ(summary.value("steps", 0), 3 * 7);
  const std::vector<Json> epochs = metrics_of(run, "epoch"), pushes = metrics_of(run, "push");
  EXPECT_EQ(epochs.size(), 3u);
  for (const Json& epoch : epochs) {
    EXPECT_EQ(epoch["ledger"]["once"], kSamples) << epoch;
    EXPECT_EQ(epoch["ledger"]["used"], kSamples) << epoch;
    EXPECT_TRUE(epoch["train_loss"].is_number()) << epoch;
  }
  EXPECT_EQ(metrics_of(run, "step").size(), 21u);
  EXPECT_EQ(pushes.size(), static_cast<std::size_t>(21 * kWorkers));
  for (const Json& push : pushes) {
    if (GetParam().bound < 0) {
      EXPECT_TRUE(push["slowest"].is_null()) << push;
      continue;
    }
    EXPECT_LE(push["clock"].get<std::int64_t>() - push["slowest"].get<std::int64_t>(), GetParam().bound) << push;
  }
  std::int64_t counted = 0;
  for (const auto& [staleness, count] : summary.at("staleness").items()) counted += count.get<std::int64_t>();
  EXPECT_EQ(counted, 21 * kWorkers) << summary.at("staleness");
}

INSTANTIATE_TEST_SUITE_P(
    With, AsynchronousOnes,
    testing::Values(Asynchronous{"no_bound", "--strategy ps:mode=async --servers 2"},
                    Asynchronous{"no_bound_in_workers", "--strategy ps:mode=async --servers 3 --server-place worker"},
                    Asynchronous{"clipping", "--strategy ps:mode=async --clip 0.5 --optimizer adam"},
                    Asynchronous{"staleness_0", "--strategy ps:mode=ssp,staleness=0", 0},
                    Asynchronous{"staleness_1", "--strategy ps:mode=ssp,staleness=1", 1},
                    Asynchronous{"staleness_2_slow",
                                 "--strategy ps:mode=ssp,staleness=2 --slow worker=1,factor=5 --server-place worker",
                                 2},
                    Asynchronous{"dynamic", "--strategy ps:mode=dssp,low=0,high=3 --slow worker=2,factor=4", 3}),
    [](const auto& test) { return std::string(test.param.name); });

// With fewer samples than oars some shares are empty.
TEST_F(Strategies, AsynchronousWithEmptyShares) {
  const std::string run = new_folder();
  summary_of(train(kShort + words("--train-samples 33 --epochs 3 --workers 3 --strategy ps:mode=ssp,staleness=0") +
                   Arguments{"--run", run}));
  for (const Json& epoch : metrics_of(run, "epoch")) EXPECT_EQ(epoch["ledger"]["once"], 33) << epoch;
}

TEST_F(Strategies, SwitchedFromSynchronousToAsynchronous) {
  const std::string run = new_folder();
  const Json summary =
      summary_of(train(kShort + words("--epochs 4 --workers 3 --strategy switch:at=50%,to=ps:mode=async,state=reset") +
                       Arguments{"--run", run}));
  EXPECT_EQ(metrics_of(run, "push").size(), 3u * 6) << "of the second half alone";
  EXPECT_EQ(metrics_of(run, "step").size(), 12u);
  const auto epochs = metrics_of(run, "epoch");
  ASSERT_EQ(epochs.size(), 4u);
  EXPECT_EQ(epochs[1]["strategy"], "allreduce");
  EXPECT_EQ(epochs[2]["strategy"], "ps:mode=async");
  for (const Json& epoch : epochs) EXPECT_EQ(epoch["ledger"]["once"], 90) << epoch;
  EXPECT_EQ(summary.at("switches").at("count"), 1);
}

// Nothing is left to do: no server ever gets the state that the checkpoint holds.
TEST_F(Strategies, AFinishedRunIsResumed) {
  for (const char* way : {"--workers 2 --strategy ps", "--workers 2 --strategy ps:mode=async",
                          "--workers 2 --strategy groups:count=2", "--workers 2"}) {
    const std::string run = new_folder();
    const Json first =
        results_of(summary_of(train(kShort + words("--steps 6") + words(way) + Arguments{"--run", run})), run);
    EXPECT_EQ(difference(resumed(run, {}), first), "") << way;
  }
}

// Interrupted in the middle, and resumed with other workers, servers and strategies.
class Interrupted : public Strategies {
 protected:
  // A run that ends after some step because the launcher was interrupted.
  std::string interrupted(const Arguments& options, std::size_t after_steps) {
    const std::string run = new_folder();
    Process process(command(options + Arguments{"--run", run}));
    EXPECT_TRUE(wait_until([&] { return steps_in(run) >= after_steps; }));
    process.kill(SIGINT);
    const Finished finished = process.wait(kDeadlineSeconds);
    EXPECT_EQ(finished.exit_code, 1) << finished.out << finished.err;
    EXPECT_NE(finished.err.find("interrupted after step"), std::string::npos) << finished.err;
    EXPECT_NE(finished.err.find("--resume " + run), std::string::npos) << finished.err;
    EXPECT_EQ(std::ranges::count(finished.err, '\n'), 1) << finished.err;
    return run;
  }
  // With the folder as it was before.
  Json resumed_copy(const std::string& run, const std::string& options) {
    const std::string copy = new_folder();
    fs::copy(run, copy, fs::copy_options::recursive);
    return resumed(copy, words(options));
  }
};

TEST_F(Interrupted, AndResumedInAnyWay) {
  const Arguments run = kShort + words("--train-samples 300 --epochs 12 --optimizer adam");
  const Json expected = results(run);
  const std::string stopped = interrupted(run + words("--workers 3"), 25);
  for (const char* way : {"", "--workers 2", "--workers 2 --strategy ps", "--workers 1 --strategy single",
                          "--workers 3 --servers 2 --strategy switch:at=90%,to=ps"})
    EXPECT_EQ(difference(resumed_copy(stopped, way), expected), "") << way;
  const std::string by_servers = interrupted(run + words("--workers 2 --servers 2 --strategy ps"), 45);
  for (const char* way :
       {"", "--workers 3 --strategy allreduce", "--workers 1 --strategy single", "--servers 1 --server-place worker"})
    EXPECT_EQ(difference(resumed_copy(by_servers, way), expected), "") << way;
}

// Nothing of an epoch that has not begun is written down, wherever the signal comes: most likely while it evaluates.
TEST_F(Interrupted, BetweenTwoEpochsOfAnAsynchronousRun) {
  for (int time = 1; time <= 3; ++time) {
    const std::string run = interrupted(
        kShort + words("--train-samples 32 --test-samples 4000 --epochs 1000 --workers 2 --strategy ps:mode=async"),
        static_cast<std::size_t>(time));
    std::int64_t epoch = 0;
    for (const Json& line : metrics_of(run, "epoch")) {
      EXPECT_EQ(line["epoch"], epoch++) << line;
      EXPECT_TRUE(line["train_loss"].is_number()) << line;
      EXPECT_EQ(line["ledger"]["once"], 32) << line;
    }
  }
}

TEST_F(Interrupted, Asynchronous) {
  const Arguments run = kShort + words("--train-samples 300 --epochs 8 --workers 3");
  for (const char* strategy : {"ps:mode=async", "ps:mode=ssp,staleness=1"}) {
    const std::string stopped = interrupted(run + Arguments{"--strategy", strategy}, 25);
    summary_of(train({"--resume", stopped}));
    const auto epochs = metrics_of(stopped, "epoch");
    ASSERT_EQ(epochs.size(), 8u);
    for (const Json& epoch : epochs) EXPECT_EQ(epoch["ledger"]["once"], 300) << strategy << epoch;
    std::map<std::int64_t, int> times;
    for (const Json& step : metrics_of(stopped, "step")) ++times[step["step"].get<std::int64_t>()];
    for (std::int64_t step = 1; step <= 80; ++step) EXPECT_EQ(times[step], 1) << strategy << " step " << step;
  }
}

}  // namespace
}  // namespace trireme::test
