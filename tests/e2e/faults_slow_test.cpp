// Processes of a run that are killed or stopped at random moments, under every strategy: the run ends soon, or goes on
// without a worker, and names who it was, no process is left, and the folder can be resumed, to the same bits where the
// strategy is synchronous.
#include <algorithm>
#include <optional>
#include <random>
#include <tuple>

#include "e2e/strategies.h"

namespace trireme::test {
namespace {

struct Way {
  const char* options;
  int servers_apart = 0;  // processes before the workers'
  bool is_synchronous = true;
};

const std::vector<Way> kWays{
    {"--workers 3"},
    {"--workers 3 --transport tcp"},
    {"--workers 2 --servers 2 --strategy ps", 2},
    {"--workers 3 --servers 2 --server-place worker --strategy ps"},
    {"--workers 2 --strategy ps:return=gradients", 1},
    {"--workers 2 --servers 2 --strategy ps --clip 1000", 2},
    {"--workers 3 --strategy switch:at=30%,from=allreduce,to=ps,at=60%,to=allreduce", 1},
    {"--workers 3 --servers 2 --strategy ps:mode=async", 2, false},
    {"--workers 3 --strategy ps:mode=ssp,staleness=1", 1, false},
    {"--workers 3 --server-place worker --strategy ps:mode=dssp,low=1,high=4", 0, false},
};

class Deaths : public Strategies {
 protected:
  // Long enough that a run is hardly over before somebody dies.
  Arguments options() const {
    return words(
        "--model lenet5 --data synthetic --train-samples 640 --test-samples 600 --batch 32 --oars 8 --threads 1 "
        "--epochs 12 --checkpoint-every 7");
  }

  struct Death {
    Finished finished;
    int rank = 0;
    pid_t victim = 0;
  };
  // Starts a run, and does something to one of its processes when `is_time` says so.
  std::optional<Death> die(const Way& way, const std::string& run, int signal, unsigned choice,
                           const std::function<bool(pid_t launcher)>& is_time) {
    Process process(command(options() + words(way.options) + Arguments{"--run", run}));
    wait_until([&] { return is_time(process.number()) || is_gone(process.number()); });
    const std::vector<pid_t> all = children_of(process.number());
    Death death;
    if (!all.empty()) {
      death.rank = static_cast<int>(choice % all.size());
      death.victim = all[static_cast<std::size_t>(death.rank)];
      ::kill(death.victim, signal);
    }
    death.finished = process.wait(kDeadlineSeconds);
    EXPECT_FALSE(death.finished.timed_out) << "it hangs";
    for (const pid_t one : all)
      EXPECT_TRUE(wait_until([&] { return is_gone(one); }, 15)) << "process " << one << " stays";
    if (!all.empty() && death.finished.exit_code != 0) return death;
    // It was over already; or goes on without a worker, which is named too.
    if (!death.finished.err.empty()) {
      EXPECT_FALSE(way.is_synchronous) << death.finished.err;
      EXPECT_NE(death.finished.err.find("(process " + std::to_string(death.victim)), std::string::npos)
          << death.finished.err;
    }
    return std::nullopt;
  }
  // The first line names the process, and a line its rank or part.
  static void expect_named(const Death& death, const Way& way) {
    const std::string& errors = death.finished.err;
    EXPECT_EQ(death.finished.exit_code, 1) << errors;
    const std::string process = "(process " + std::to_string(death.victim);
    EXPECT_NE(errors.substr(0, errors.find('\n')).find(process), std::string::npos) << errors;
    const int worker = death.rank - way.servers_apart;
    const std::string part = worker < 0 ? "server " + std::to_string(death.rank) : "worker " + std::to_string(worker);
    EXPECT_TRUE(errors.find("rank " + std::to_string(death.rank) + " " + process) != std::string::npos ||
                errors.find(part + " " + process) != std::string::npos)
        << part << ": " << errors;
  }
  void expect_resumes(const std::string& run, const Way& way, const Json& expected) const {
    if (!fs::exists(run + "/run.json")) return;  // nothing was begun
    const Json results = resumed(run, {});
    if (way.is_synchronous) {
      EXPECT_EQ(results["weights_sha256"], expected["weights_sha256"]);
    }
    for (const Json& epoch : metrics_of(run, "epoch")) EXPECT_EQ(epoch["ledger"]["once"], 640) << epoch;
  }
};

TEST_F(Deaths, AtRandomMoments) {
  const unsigned seed = std::random_device()();
  RecordProperty("seed", std::to_string(seed));
  std::mt19937 random(seed);
  const Json expected = results(options());
  // As long as the shortest of the ways takes here.
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_EQ(results(options() + words(kWays[0].options))["weights_sha256"], expected["weights_sha256"]);
  const std::chrono::duration<double, std::milli> whole = std::chrono::steady_clock::now() - begin;
  int killed = 0;
  for (std::size_t i = 0; i < 2 * kWays.size(); ++i) {
    const Way& way = kWays[i % kWays.size()];
    const unsigned choice = random();
    const auto delay = std::chrono::milliseconds(random() % static_cast<unsigned>(whole.count()));
    SCOPED_TRACE(testing::Message() << "seed " << seed << ", run " << i << ": " << way.options << ", after "
                                    << delay.count() << " ms");
    const std::string run = new_folder();
    const auto start = std::chrono::steady_clock::now();
    const auto death =
        die(way, run, SIGKILL, choice, [&](pid_t) { return std::chrono::steady_clock::now() - start >= delay; });
    if (!death) continue;
    ++killed;
    expect_named(*death, way);
    expect_resumes(run, way, expected);
  }
  EXPECT_GE(killed, static_cast<int>(kWays.size())) << "too many were over before they were killed";
}

// Before the others know it, as soon as it exists: nobody waits for it, but the rest is given some seconds to end.
TEST_F(Deaths, WhileJoining) {
  const Way &all_reduce = kWays[0], &servers = kWays[2];
  for (const auto& [way, world, rank] : {std::tuple{all_reduce, 3, 0}, {all_reduce, 3, 2}, {servers, 4, 1}}) {
    SCOPED_TRACE(testing::Message() << way.options << ", rank " << rank);
    const auto death = die(way, new_folder(), SIGKILL, static_cast<unsigned>(rank), [&, world = world](pid_t launcher) {
      return children_of(launcher).size() == static_cast<std::size_t>(world);
    });
    ASSERT_TRUE(death);
    expect_named(*death, way);
    EXPECT_EQ(death->finished.err.find("did not come"), std::string::npos) << death->finished.err;
  }
}

TEST_F(Deaths, WhileACheckpointIsWritten) {
  const Json expected = results(options());
  for (const std::size_t i : {0u, 2u, 8u}) {
    const Way& way = kWays[i];
    for (unsigned choice = 0; choice < 3; ++choice) {
      SCOPED_TRACE(testing::Message() << way.options << ", choice " << choice);
      const std::string run = new_folder();
      const auto death = die(way, run, SIGKILL, choice, [&](pid_t) {
        std::error_code ignored;
        for (fs::directory_iterator entry(run + "/checkpoints", ignored), end; entry != end; entry.increment(ignored))
          if (entry->path().string().find("partial") != std::string::npos) return true;
        return false;
      });
      if (!death) continue;
      expect_named(*death, way);
      expect_resumes(run, way, expected);
    }
  }
}

// Whoever is left after a worker's death works in step where the next strategy wants that.
TEST_F(Deaths, BeforeASwitchToAllReduce) {
  const Way way{"--workers 3 --strategy switch:at=50%,from=ps:mode=async,to=allreduce", 1, false};
  const std::string run = new_folder();
  EXPECT_FALSE(die(way, run, SIGKILL, 3, [&](pid_t) { return steps_in(run) > 3; })) << "it does not go on";
  const Json metrics = metrics_of(run, "epoch");
  ASSERT_EQ(metrics.size(), 12u);
  // What it was about to push when it died, others do again; the server may have it already.
  for (const Json& epoch : metrics) EXPECT_EQ(epoch["ledger"]["missed"], 0) << epoch;
  for (std::size_t e = 6; e < 12; ++e) EXPECT_EQ(metrics[e]["ledger"]["once"], 640) << metrics[e];
}

// Whoever is left of its group, and the other group, go on.
TEST_F(Deaths, AWorkerOfAGroup) {
  const Way way{"--workers 4 --strategy groups:count=2", 1, false};
  for (unsigned choice = 1; choice <= 4; ++choice) {
    SCOPED_TRACE(testing::Message() << "choice " << choice);
    const std::string run = new_folder();
    EXPECT_FALSE(die(way, run, SIGKILL, choice, [&](pid_t) { return steps_in(run) > 3; })) << "it does not go on";
    EXPECT_EQ(metrics_of(run, "epoch").size(), 12u);
    for (const Json& epoch : metrics_of(run, "epoch")) EXPECT_EQ(epoch["ledger"]["missed"], 0) << epoch;
  }
}

// Process 0 holds the others together and cannot say that it was stopped; the launcher does.
TEST_F(Deaths, TheFirstThatIsStopped) {
  const std::string run = new_folder();
  Process process(
      command(options() + words("--epochs 100000 --workers 3 --heartbeat-timeout 2") + Arguments{"--run", run}));
  ASSERT_TRUE(wait_until([&] { return steps_in(run) > 3; }));
  const std::vector<pid_t> all = children_of(process.number());
  ::kill(all[0], SIGSTOP);
  const Finished finished = process.wait(kDeadlineSeconds);
  EXPECT_FALSE(finished.timed_out);
  EXPECT_EQ(finished.exit_code, 1);
  EXPECT_TRUE(finished.err.starts_with("trireme: worker 0 (process " + std::to_string(all[0]))) << finished.err;
  EXPECT_EQ(std::ranges::count(finished.err, '\n'), 1) << finished.err;
  for (const pid_t one : all)
    EXPECT_TRUE(wait_until([&] { return is_gone(one); }, 15)) << "process " << one << " stays";
}

// A pause ends the run, or is survived, as --heartbeat-timeout says; stored with the run, it counts for all processes.
TEST_F(Deaths, APauseThatThePatienceCovers) {
  const Json expected = results(options());
  for (const int timeout : {2, 60}) {
    SCOPED_TRACE(timeout);
    const std::string run = new_folder();
    const Arguments patience{"--heartbeat-timeout", std::to_string(timeout)};
    Process process(command(options() + words("--workers 3") + patience + Arguments{"--run", run}));
    ASSERT_TRUE(wait_until([&] { return steps_in(run) > 3; }));
    const std::vector<pid_t> all = children_of(process.number());
    ASSERT_EQ(all.size(), 3u);
    ::kill(all[2], SIGSTOP);
    std::this_thread::sleep_for(std::chrono::seconds(6));
    ::kill(all[2], SIGCONT);
    const Finished finished = process.wait(kDeadlineSeconds);
    EXPECT_EQ(finished.exit_code, timeout == 2 ? 1 : 0) << finished.err;
    EXPECT_EQ(finished.err.find("has been silent for") != std::string::npos, timeout == 2) << finished.err;
    const Json config = Json::parse(text_of(run + "/run.json"));
    EXPECT_NE(config.dump().find("\"heartbeat-timeout\":\"" + std::to_string(timeout)), std::string::npos) << config;
    const Json got = timeout == 2 ? resumed(run, {}) : results_of(summary_of(finished), run);
    EXPECT_EQ(got["weights_sha256"], expected["weights_sha256"]);
  }
}

// The others push all that is left of the interval before its silence is noticed; then only its own share is made
// again.
TEST_F(Deaths, AnAsynchronousWorkerThatIsStopped) {
  const std::string run = new_folder();
  Process process(command(words("--model lenet5 --data synthetic --train-samples 6400 --test-samples 40 --batch 32 "
                                "--oars 8 --threads 1 --epochs 2 --workers 3 --strategy ps:mode=async "
                                "--heartbeat-timeout 4") +
                          Arguments{"--run", run}));
  ASSERT_TRUE(wait_until([&] { return metrics_of(run, "push").size() > 3; }));
  const std::vector<pid_t> all = children_of(process.number());
  ASSERT_EQ(all.size(), 4u);
  ::kill(all.back(), SIGSTOP);
  const Finished finished = process.wait(kDeadlineSeconds);
  EXPECT_EQ(finished.exit_code, 0) << finished.err;
  EXPECT_EQ(finished.err.find("internal error"), std::string::npos) << finished.err;
  const std::vector<Json> epochs = metrics_of(run, "epoch");
  ASSERT_EQ(epochs.size(), 2u);
  for (const Json& epoch : epochs) EXPECT_EQ(epoch["ledger"]["once"], 6400) << epoch;
}

// It sends heartbeats, but nothing else.
TEST_F(Deaths, OneThatKeepsTheOthersWaiting) {
  const Finished finished = train(options() + words("--workers 3 --slow worker=1,factor=100000 --stall-timeout 2") +
                                  Arguments{"--run", new_folder()});
  EXPECT_EQ(finished.exit_code, 1);
  EXPECT_NE(finished.err.find("within 2 s"), std::string::npos) << finished.err;
}

// Silence is noticed too, after 10 seconds.
TEST_F(Deaths, OneThatIsStopped) {
  const Way& way = kWays[0];
  const std::string run = new_folder();
  Process process(command(options() + words("--epochs 100000") + words(way.options) + Arguments{"--run", run}));
  ASSERT_TRUE(wait_until([&] { return steps_in(run) > 3; }));
  const std::vector<pid_t> all = children_of(process.number());
  Death death;
  death.rank = static_cast<int>(all.size()) - 1;
  death.victim = all.back();
  ::kill(death.victim, SIGSTOP);
  death.finished = process.wait(kDeadlineSeconds);
  EXPECT_FALSE(death.finished.timed_out);
  expect_named(death, way);
  EXPECT_NE(death.finished.err.find("silent"), std::string::npos) << death.finished.err;
  for (const pid_t one : all)
    EXPECT_TRUE(wait_until([&] { return is_gone(one); }, 15)) << "process " << one << " stays";
}

}  // namespace
}  // namespace trireme::test
