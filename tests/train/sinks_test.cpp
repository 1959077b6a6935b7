// The sinks of a run folder, without a run.
#include "train/sinks/sinks.h"

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/system/clock.h"
#include "support/temporary_folder.h"

namespace trireme::train {
namespace {

using Json = nlohmann::json;
using observe::EpochDone;
using observe::RolledBack;
using observe::StepDone;

class Sinks : public testing::Test {
 protected:
  base::fs::path file(const char* name) const { return folder_.path() / name; }
  std::vector<Json> lines(const char* name) const {
    std::vector<Json> all;
    std::ifstream in(file(name));
    for (std::string line; std::getline(in, line);) all.push_back(Json::parse(line));
    return all;
  }
  SinkContext context() const { return {.folder = folder_.path()}; }

  static StepDone step(std::int64_t number) {
    StepDone done;
    done.step = number;
    done.loss = 0.5;
    done.accuracy = std::nan("");
    done.seconds.hidden = 2;
    return done;
  }
  static EpochDone epoch(std::int64_t at_step) {
    EpochDone done;
    done.step = at_step;
    return done;
  }

  test::TemporaryFolder folder_;
};

TEST_F(Sinks, MetricsHaveALinePerStepPushAndEpoch) {
  const auto metrics = make_metrics_sink(context());
  metrics->on(step(1));
  metrics->on(
      observe::PushDone{.step = 1, .pusher = 2, .is_group = true, .clock = 3, .slowest = 1, .has_bound = false});
  EpochDone done = epoch(1);
  done.is_validation = true;
  done.staleness = {{0, 3}, {2, 1}};
  metrics->on(done);
  const auto all = lines("metrics.jsonl");
  ASSERT_EQ(all.size(), 3u);
  EXPECT_EQ(all[0].at("type"), "step");
  EXPECT_TRUE(all[0].at("accuracy").is_null());
  EXPECT_EQ(all[0].at("seconds").at("hidden_network"), 2);
  EXPECT_EQ(all[1].at("group"), 2);
  EXPECT_TRUE(all[1].at("slowest").is_null());
  EXPECT_TRUE(all[2].contains("validation_loss"));
  EXPECT_EQ(all[2].at("staleness"), (Json{{"0", 3}, {"2", 1}}));
  EXPECT_TRUE(metrics->is_record());
  EXPECT_FALSE(metrics->wants(observe::SpansRecorded{}));
}

TEST_F(Sinks, MetricsForgetWhatIsRolledBack) {
  std::ofstream(file("metrics.jsonl")) << "{\"damaged\n";
  const auto metrics = make_metrics_sink(context());
  for (int i = 1; i <= 4; ++i) metrics->on(step(i));
  metrics->on(epoch(4));
  metrics->on(RolledBack{.step = 4});
  EXPECT_EQ(lines("metrics.jsonl").size(), 5u) << "the damaged line is gone";
  metrics->on(RolledBack{.step = 4, .is_within_epoch = true});
  EXPECT_EQ(lines("metrics.jsonl").size(), 4u) << "and now the epoch that is not over";
  metrics->on(observe::Diverged{5, "loss", INFINITY});
  metrics->on(observe::Detached{5, "SIGHUP"});
  metrics->on(RolledBack{.step = 2});
  metrics->on(step(3));
  const auto all = lines("metrics.jsonl");
  ASSERT_EQ(all.size(), 4u);
  EXPECT_EQ(all[2].at("type"), "diverged") << "it stays";
  EXPECT_EQ(all[2].at("value"), "inf");
  for (const std::size_t i : {0u, 1u, 3u}) EXPECT_EQ(all[i].at("step"), std::min<std::size_t>(i, 2) + 1);
}

TEST_F(Sinks, MetricsSayWhatElseHappens) {
  const auto metrics = make_metrics_sink(context());
  observe::WorkersReport report{.step = 3, .seconds = 1.5, .lateness = "worker 0 ..."};
  report.workers.push_back({.worker = 0, .host = "a", .steps = 3, .caused_seconds = 0.5, .end_oar = 4});
  report.workers.push_back({.worker = 1, .host = "b", .steps = 2, .clock = 7});
  report.workers[1].seconds.hidden = 0.25;
  metrics->on(report);
  metrics->on(observe::HandedOver{3, "ps:mode=async", true, 1'000'000'000, 1'250'000'000});
  metrics->on(observe::WorkerLost{3, "worker 2 on c", 2});
  metrics->on(observe::CheckpointWritten{4, true, 0, 500'000'000});
  metrics->on(step(5));
  const auto all = lines("metrics.jsonl");
  ASSERT_EQ(all.size(), 5u);
  const double now = base::unix_seconds();
  for (const Json& line : {all[0], all[2], all[4]}) EXPECT_NEAR(line.at("time").get<double>(), now, 60);
  EXPECT_EQ(all[0].at("type"), "workers");
  EXPECT_EQ(all[0].at("workers").at(0).at("oars"), Json::array({0, 4}));
  EXPECT_EQ(all[0].at("workers").at(0).at("caused_seconds"), 0.5);
  EXPECT_TRUE(all[0].at("workers").at(1).at("oars").is_null());
  EXPECT_EQ(all[0].at("workers").at(1).at("clock"), 7);
  EXPECT_EQ(all[0].at("workers").at(1).at("seconds").at("hidden_network"), 0.25);
  EXPECT_EQ(all[1].at("type"), "hand_over");
  EXPECT_EQ(all[1].at("seconds"), 0.25);
  EXPECT_EQ(all[1].at("is_switch"), true);
  EXPECT_EQ(all[2].at("who"), "worker 2 on c");
  EXPECT_EQ(all[2].at("workers_left"), 2);
  EXPECT_EQ(all[3].at("is_best"), true);

  metrics->on(RolledBack{.step = 3, .is_resume = true});
  std::vector<std::string> types;
  for (const Json& line : lines("metrics.jsonl")) types.push_back(line.at("type"));
  EXPECT_EQ(types, (std::vector<std::string>{"workers", "lost", "resumed"})) << "the hand-over is made again";
}

TEST_F(Sinks, TheTimeOfAStepIsThatOfItsEnd) {
  const auto metrics = make_metrics_sink(context());
  StepDone early = step(1);
  early.time_ns = base::now_ns() - 100'000'000'000;
  metrics->on(early);
  metrics->on(step(2));
  const auto all = lines("metrics.jsonl");
  EXPECT_NEAR(all[1].at("time").get<double>() - all[0].at("time").get<double>(), 100, 30);
}

TEST_F(Sinks, TheTraceMarksWhereARunWentBack) {
  const auto trace = make_trace_sink(context());
  EXPECT_FALSE(trace->is_record()) << "a full disk must not stop a run because of its trace";
  const auto names = [&] {
    std::vector<std::string> all;
    const Json written = Json::parse(base::read_text(file("trace.json")));
    for (const Json& event : written.at("traceEvents"))
      if (event.at("ph") != "M") all.push_back(event.at("name"));
    return all;
  };
  trace->on(observe::CheckpointWritten{1, true, 1000, 2000});
  EXPECT_EQ(names(), (std::vector<std::string>{"checkpoint"})) << "at once";
  trace->on(RolledBack{.step = 1, .is_resume = true, .time_ns = 3000});
  trace->on(RolledBack{.step = 1, .time_ns = 4000});
  trace->on(observe::WorkerLost{2, "worker 1", 1});
  EXPECT_EQ(names(), (std::vector<std::string>{"checkpoint", "resumed", "rolled back", "lost"}));
}

TEST_F(Sinks, ARunThatWasFinishedBeforeKeepsItsSummary) {
  const auto summary = make_summary_sink(context());
  summary->on(observe::RunFinished{R"({"steps":3})", {}, 0});
  EXPECT_EQ(Json::parse(base::read_text(file("summary.json"))).at("steps"), 3) << "there was none";
  summary->on(observe::RunFinished{R"({"steps":4})", {}, 0});
  EXPECT_EQ(Json::parse(base::read_text(file("summary.json"))).at("steps"), 3);
  summary->on(observe::RunFinished{R"({"steps":5})", {}, 2});
  EXPECT_EQ(Json::parse(base::read_text(file("summary.json"))).at("steps"), 5);
}

TEST_F(Sinks, ResourcesAreWrittenAsTheyCome) {
  const auto resources = make_resources_sink(context());
  resources->on(observe::ResourcesUsed{R"({"rank":3})"});
  resources->on(observe::ResourcesUsed{R"({"rank":null})"});
  const auto all = lines("resources.jsonl");
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all[0].at("rank"), 3);
  EXPECT_EQ(all[1].at("rank"), nullptr);
}

TEST_F(Sinks, AFileThatCannotBeWrittenIsNamed) {
  SinkContext nowhere{.folder = folder_.path() / "missing"};
  EXPECT_THROW((void)make_metrics_sink(nowhere), base::Error);
}

TEST_F(Sinks, AQuietRunHasNoConsole) {
  SinkContext quiet = context();
  quiet.is_quiet = true;
  EXPECT_EQ(make_console_sink(quiet), nullptr);
  EXPECT_EQ(builtin_sinks().names(), (std::vector<std::string>{"metrics", "console", "resources", "trace", "summary"}));
}

TEST_F(Sinks, TheConsoleTellsWhatPeopleWantToKnow) {
  testing::internal::CaptureStdout();
  {
    const auto console = make_console_sink(context());
    console->on(observe::RunStarted{.model = "lenet5",
                                    .data = "synthetic",
                                    .strategy = "allreduce",
                                    .folder = "runs/a",
                                    .parameters = 10,
                                    .train_samples = 20,
                                    .test_samples = 30,
                                    .batch = 4,
                                    .oars = 1,
                                    .steps_per_epoch = 5,
                                    .total_steps = 1,
                                    .workers = 2,
                                    .processes = 2,
                                    .threads = {1, 2},
                                    .notes = {"be careful"}});
    console->on(observe::HandedOver{3, "ps", true, 0, 2'000'000'000});
    console->on(observe::HandedOver{0, "ps", false, 0, 2'000'000'000});
    console->on(observe::WorkerLost{4, "worker 1 on b", 1});
    console->on(RolledBack{.step = 2});
    console->on(RolledBack{.step = 2, .is_resume = true});
    console->on(observe::StoppedEarly{3});
    console->on(observe::RunFinished{"{}", {"weights abc"}, 1});
  }
  EXPECT_EQ(testing::internal::GetCapturedStdout(),
            "lenet5 (10 parameters) on synthetic: 20 training, 30 test samples\n"
            "batch 4 in 1 oar on 2 workers with 1 thread and others (allreduce), 5 steps an epoch, 1 step in all; run "
            "folder runs/a\n"
            "note: be careful\n"
            "step 3: ps takes over, after 2.0 s\n"
            "step 4: worker 1 on b is gone; going on with 1 worker\n"
            "back to step 2: the steps after it are made again\n"
            "stopped early: no better result for 3 epochs\n"
            "weights abc\n");
}

}  // namespace
}  // namespace trireme::train
