// local and groups as a user runs them: the real program, its processes, and what it writes down.
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <sstream>

#include "support/process.h"

namespace trireme::test {
namespace {

using Arguments = std::vector<std::string>;
using Json = nlohmann::json;

class LocalAndGroups : public testing::Test {
 protected:
  void SetUp() override {
    if (trireme_binary().empty()) GTEST_SKIP() << "TRIREME_BINARY is not set";
  }
  std::string path(const std::string& run) const { return (folder_ / run).string(); }

  Finished start(const std::string& run, const Arguments& options) const {
    Arguments all{trireme_binary(), "train",  "--model",   "lenet5", "--data",          "synthetic",
                  "--batch",        "32",     "--oars",    "8",      "--train-samples", "320",
                  "--test-samples", "32",     "--threads", "1",      "--json",          "--quiet",
                  "--run",          path(run)};
    all.insert(all.end(), options.begin(), options.end());
    return run_process(all);
  }
  Json train(const std::string& run, const Arguments& options) const {
    const Finished finished = start(run, options);
    EXPECT_EQ(finished.exit_code, 0) << finished.err;
    const Json json = Json::parse(finished.last_line(), nullptr, false);
    return json.is_object() ? json : Json::object();
  }
  std::vector<Json> lines(const std::string& run, const std::string& type) const {
    std::vector<Json> all;
    std::istringstream text(text_of(fs::path(path(run)) / "metrics.jsonl"));
    for (std::string line; std::getline(text, line);)
      if (Json json = Json::parse(line); json.at("type") == type) all.push_back(std::move(json));
    return all;
  }
  void expect_every_sample_once(const std::string& run, std::size_t epochs) const {
    std::size_t seen = 0;
    for (const Json& line : lines(run, "epoch")) {
      EXPECT_EQ(line["ledger"]["once"], 320) << line;
      EXPECT_EQ(line["ledger"]["repeated"], 0) << line;
      ++seen;
    }
    EXPECT_EQ(seen, epochs);
  }
  void expect_refused(const std::string& strategy, const std::string& saying) const {
    const Finished finished = start("refused", {"--workers", "2", "--strategy", strategy});
    EXPECT_EQ(finished.exit_code, 2) << strategy << ": " << finished.err;
    EXPECT_NE(finished.err.find(saying), std::string::npos) << finished.err;
    EXPECT_EQ(std::ranges::count(finished.err, '\n'), 1) << finished.err;
    EXPECT_FALSE(fs::exists(path("refused")));
  }

 private:
  TemporaryFolder folder_;
};

// 10 steps an epoch: averages after steps 4 and 8, and at the end.
TEST_F(LocalAndGroups, LocalHasTheSameBitsOverEveryTransport) {
  const Arguments local{"--workers", "4", "--epochs", "2", "--strategy", "local:every=4"};
  const auto with = [&](Arguments options, const Arguments& more) {
    options.insert(options.end(), more.begin(), more.end());
    return options;
  };
  const Json shared = train("shared", local);
  EXPECT_EQ(shared["synchronisations"], 6);
  expect_every_sample_once("shared", 2);
  const Json tcp = train("tcp", with(local, {"--transport", "tcp"}));
  EXPECT_EQ(tcp["weights_sha256"], shared["weights_sha256"]);
  EXPECT_EQ(tcp["train_loss"], shared["train_loss"]);
  const Json servers =
      train("servers", {"--workers", "4", "--epochs", "2", "--servers", "2", "--strategy", "local:every=4,by=servers"});
  EXPECT_EQ(servers["weights_sha256"], shared["weights_sha256"]);
  EXPECT_EQ(servers["servers"], 2);
}

TEST_F(LocalAndGroups, LocalGoesOnWhereItWas) {
  for (const char* state : {"average", "keep", "reset"}) {
    const std::string run = state, strategy = std::string("local:every=3,state=") + state;
    const Json whole =
        train(run + "-whole", {"--workers", "2", "--epochs", "2", "--schedule", "constant", "--strategy", strategy});
    train(run, {"--workers", "2", "--epochs", "1", "--schedule", "constant", "--strategy", strategy});
    const Finished resumed = run_process({trireme_binary(), "train", "--resume", path(run), "--epochs", "2", "--json"});
    ASSERT_EQ(resumed.exit_code, 0) << resumed.err;
    EXPECT_EQ(Json::parse(resumed.last_line())["weights_sha256"], whole["weights_sha256"]) << state;
  }
}

TEST_F(LocalAndGroups, PostLocalSgdIsASwitch) {
  const Json summary =
      train("post", {"--workers", "2", "--epochs", "2", "--strategy", "switch:at=30%,from=allreduce,to=local:every=8"});
  EXPECT_EQ(summary["steps"], 20);
  EXPECT_EQ(summary["switches"]["count"], 1);
  EXPECT_EQ(summary["synchronisations"], 3);  // steps 10, 18 and 20
  expect_every_sample_once("post", 2);
  const Json again = train("again", {"--workers", "2", "--epochs", "2", "--transport", "tcp", "--threads", "2",
                                     "--strategy", "switch:at=30%,from=allreduce,to=local:every=8"});
  EXPECT_EQ(again["weights_sha256"], summary["weights_sha256"]);
  // And back, and on to servers, which take the workers' state.
  const Json back = train("back", {"--workers", "2", "--epochs", "2", "--strategy",
                                   "switch:from=local:every=3,to=allreduce,at=50%,to=ps:mode=sync,at=70%"});
  EXPECT_EQ(back["switches"]["count"], 2);
}

TEST_F(LocalAndGroups, DriftBringsReplicasTogether) {
  const Json tight = train("tight", {"--workers", "2", "--epochs", "1", "--strategy", "local:every=0,drift=1e-9"});
  EXPECT_EQ(tight["synchronisations"], 10);
  const Json loose = train("loose", {"--workers", "2", "--epochs", "1", "--strategy", "local:every=0,drift=1e9"});
  EXPECT_EQ(loose["synchronisations"], 1);
}

TEST_F(LocalAndGroups, GroupsUseEverySampleOnce) {
  for (const char* transport : {"auto", "tcp"}) {
    const std::string run = std::string("groups-") + transport;
    const Json summary = train(run, {"--workers", "4", "--epochs", "2", "--servers", "2", "--transport", transport,
                                     "--strategy", "groups:count=2"});
    EXPECT_EQ(summary["steps"], 20);
    expect_every_sample_once(run, 2);
    std::size_t pushes = 0;
    for (const Json& push : lines(run, "push")) {
      EXPECT_LT(push["group"].get<int>(), 2);
      ++pushes;
    }
    EXPECT_EQ(pushes, 40u) << "one for each group and step";
  }
}

// With one group, or with one worker in all, nothing is asynchronous.
TEST_F(LocalAndGroups, OneGroupIsASynchronousRun) {
  const Json reduced = train("reduced", {"--workers", "2", "--epochs", "1", "--strategy", "allreduce"});
  const Json grouped = train("grouped", {"--workers", "2", "--epochs", "1", "--strategy", "groups:count=1"});
  EXPECT_EQ(grouped["weights_sha256"], reduced["weights_sha256"]);
  // Workers of one host.
  const Json by_host = train("by-host", {"--workers", "3", "--epochs", "1", "--strategy", "groups:by=host"});
  EXPECT_EQ(by_host["weights_sha256"], reduced["weights_sha256"]);
}

TEST_F(LocalAndGroups, GroupsStayWithinTheirBound) {
  train("bound",
        {"--workers", "4", "--epochs", "2", "--strategy", "groups:count=2,staleness=1", "--slow", "worker=3,factor=4"});
  expect_every_sample_once("bound", 2);
  // In the order in which the helm heard of them: whoever pushes is at most one push ahead of the other group, as long
  // as that has more to come in the epoch.
  std::vector<std::vector<std::pair<int, int>>> epochs(2);  // group and clock
  for (const Json& push : lines("bound", "push")) {
    EXPECT_LE(push["clock"].get<int>() - push["slowest"].get<int>(), 1) << push;
    epochs.at((push["step"].get<std::size_t>() - 1) / 10).emplace_back(push["group"], push["clock"]);
  }
  for (const auto& pushes : epochs) {
    EXPECT_EQ(pushes.size(), 20u);
    for (std::size_t i = 0; i < pushes.size(); ++i) {
      const auto is_others = [&](const auto& push) { return push.first != pushes[i].first; };
      const auto here = pushes.begin() + static_cast<std::ptrdiff_t>(i);
      if (std::count_if(here, pushes.end(), is_others) == 0) continue;
      EXPECT_LE(pushes[i].second - std::count_if(pushes.begin(), here, is_others), 1) << "push " << i;
    }
  }
}

TEST_F(LocalAndGroups, SwitchToGroupsAndBack) {
  const Json summary = train("switch", {"--workers", "4", "--epochs", "2", "--strategy",
                                        "switch:from=allreduce,to=groups:count=2,at=20%,to=local:every=4,at=70%"});
  EXPECT_EQ(summary["steps"], 20);
  EXPECT_EQ(summary["switches"]["count"], 2);
  expect_every_sample_once("switch", 2);
}

TEST_F(LocalAndGroups, MistakesAreRefusedWithOneSentence) {
  expect_refused("groups:count=0", "count is 0");
  expect_refused("groups:count=3", "2 workers");
  expect_refused("local:every=-1", "every is -1");
  expect_refused("local:drift=-0.1", "drift is -0.1");
  expect_refused("local:every=0", "drift");
}

}  // namespace
}  // namespace trireme::test
