// The time line of real runs: by the rules of its format, complete to the last moment of a process that is killed, and
// continued by a resumed run.
#include <cmath>

#include "e2e/strategies.h"
#include "support/chrome_trace.h"

namespace trireme::test {
namespace {

const Arguments kTraced =
    words("--model lenet5 --data synthetic --train-samples 96 --test-samples 40 --batch 32 --oars 8 --threads 1");
// How old the last span of a killed process may be. It is usually below 0.3 s; here only a machine that is not busy
// with something else would keep that.
constexpr double kFreshSeconds = 10;

class Traces : public Strategies {
 protected:
  static Json trace_of(const std::string& run) {
    Json trace = Json::parse(text_of(run + "/trace.json"), nullptr, false);
    EXPECT_TRUE(trace.is_object()) << "trace.json is not complete";
    return trace;
  }
  static double unix_now() {
    return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
  }
  // A calendar time as the trace counts it.
  static double trace_us(const Json& trace, double unix) {
    for (const Json& event : trace["traceEvents"])
      if (event["name"] == "started")
        return event["ts"].get<double>() + 1e6 * (unix - event["args"]["unix"].get<double>());
    ADD_FAILURE() << "no start";
    return 0;
  }
  static double last_end_us(const Json& trace, int process) {
    double last = 0;
    for (const Json& event : trace["traceEvents"])
      if (event["ph"] == "X" && event["pid"] == process)
        last = std::max(last, event["ts"].get<double>() + event["dur"].get<double>());
    return last;
  }
  static int count(const Json& trace, const std::string& name) {
    return static_cast<int>(
        std::ranges::count_if(trace["traceEvents"], [&](const Json& one) { return one["name"] == name; }));
  }
  static double bound_us(const Json& trace) {
    double bound = 0;
    for (const Json& event : trace["traceEvents"])
      if (event["name"] == "clock" && event["args"]["bound_us"].is_number())
        bound = std::max(bound, event["args"]["bound_us"].get<double>());
    return bound;
  }
};

TEST_F(Traces, FollowTheRulesOfTheirFormat) {
  for (const char* way : {"--workers 3 --servers 1 --strategy ps", "--workers 2 --strategy allreduce",
                          "--workers 2 --transport tcp", "--workers 2 --servers 2 --strategy ps:mode=async"}) {
    SCOPED_TRACE(way);
    const std::string run = new_folder();
    (void)summary_of(train(kTraced + words("--epochs 4") + words(way) + Arguments{"--run", run}));
    const Json trace = trace_of(run);
    EXPECT_GT(expect_chrome_trace(trace, 2 * bound_us(trace) + 1e-3), 12) << "arrows";
    EXPECT_GT(count(trace, "clock"), 0);
    EXPECT_EQ(trace["otherData"]["spans_left_out"], 0);
    const bool has_servers = std::string(way).find("ps") != std::string::npos;
    EXPECT_EQ(count(trace, "push") > 0, has_servers);
    EXPECT_EQ(count(trace, "handle push") > 0, has_servers);
    EXPECT_EQ(count(trace, "reduce") > 0, !has_servers);
    EXPECT_GT(count(trace, "read batch"), 0);
    expect_chrome_trace(Json::parse(text_of(run + "/trace_now.json"), nullptr, false), 1e9);
    EXPECT_LE(fs::file_size(run + "/trace_now.json"), std::size_t{1} << 20);
  }
}

TEST_F(Traces, NoneLeavesNoFile) {
  const std::string run = new_folder();
  (void)summary_of(train(kTraced + words("--epochs 1 --trace none") + Arguments{"--run", run}));
  EXPECT_FALSE(fs::exists(run + "/trace.json"));
  EXPECT_EQ(train(kTraced + words("--trace some") + Arguments{"--run", new_folder()}).exit_code, 2);
}

TEST_F(Traces, AKilledWorkerIsThereToTheLast) {
  for (const char* way : {"--workers 3 --servers 1 --strategy ps:mode=async", "--workers 3 --strategy allreduce"}) {
    SCOPED_TRACE(way);
    const std::string run = new_folder();
    Process process(command(kTraced + words("--epochs 100000") + words(way) + Arguments{"--run", run}));
    ASSERT_TRUE(wait_until([&] { return steps_in(run) > 150; }, kDeadlineSeconds)) << process.errors_so_far();
    const std::vector<pid_t> all = children_of(process.number());
    ASSERT_GE(all.size(), 3u);
    const int victim = static_cast<int>(all.size()) - 1;
    const double killed = unix_now();
    ::kill(all.back(), SIGKILL);
    if (std::string(way).find("async") != std::string::npos) {
      ASSERT_TRUE(wait_until([&] { return text_of(run + "/trace.json").find("\"lost\"") != std::string::npos; }));
      process.kill(SIGINT);
    }
    process.wait(kDeadlineSeconds);
    const Json trace = trace_of(run);
    expect_chrome_trace(trace, 1e9);
    const double old = 1e-6 * (trace_us(trace, killed) - last_end_us(trace, victim));
    std::printf("%s: the last span of the killed process ended %.3f s before it was killed\n", way, old);
    EXPECT_LT(old, kFreshSeconds);
  }
}

TEST_F(Traces, AKilledHelmLeavesACompleteFile) {
  const std::string run = new_folder();
  double killed = 0;
  {
    Process process(
        command(kTraced + words("--epochs 100000 --checkpoint-every 50 --workers 2") + Arguments{"--run", run}));
    ASSERT_TRUE(wait_until([&] { return steps_in(run) > 150; }, kDeadlineSeconds)) << process.errors_so_far();
    const std::vector<pid_t> all = children_of(process.number());
    ASSERT_EQ(all.size(), 2u);
    killed = unix_now();
    ::kill(all[0], SIGKILL);
    process.wait(kDeadlineSeconds);
  }
  const Json trace = trace_of(run);
  for (const int process : {0, 1}) {
    const double old = 1e-6 * (trace_us(trace, killed) - last_end_us(trace, process));
    std::printf("process %d: %.3f s\n", process, old);
    EXPECT_LT(old, kFreshSeconds);
  }
  const int steps = count(trace, "step");
  // What was there stays, and the resumed run's steps come after it.
  const std::int64_t done = steps_in(run);
  (void)train(Arguments{"--resume", run, "--epochs"} + Arguments{std::to_string(done / 3 + 2)});
  const Json resumed = trace_of(run);
  EXPECT_GT(count(resumed, "step"), steps);
  EXPECT_EQ(count(resumed, "resumed"), 1);
  EXPECT_EQ(count(resumed, "started"), 1);
  EXPECT_GE(expect_chrome_trace(resumed, 1e9), 1);
}

TEST_F(Traces, TheSlowWorkerIsNamed) {
  const std::string run = new_folder();
  (void)summary_of(train(kTraced + words("--epochs 10 --workers 2 --assign even --slow worker=1,factor=20") +
                         Arguments{"--run", run}));
  const Finished finished = run_process({trireme_binary(), "trace", run, "--json"}, {}, kDeadlineSeconds);
  ASSERT_EQ(finished.exit_code, 0) << finished.err;
  const Json path = Json::parse(finished.last_line());
  EXPECT_TRUE(path["decides"]["process"].get<std::string>().starts_with("worker 1 ")) << path.dump(2);
  EXPECT_EQ(path["decides"]["phase"], "backward") << path.dump(2);
  EXPECT_GT(path["decides"]["gained_seconds"].get<double>(), 0.3 * path["seconds"].get<double>());
  const Finished text = run_process({trireme_binary(), "trace", run}, {}, kDeadlineSeconds);
  EXPECT_NE(text.out.find("decided by: backward of worker 1"), std::string::npos) << text.out;
  EXPECT_EQ(run_process({trireme_binary(), "trace", folder("nothing")}, {}, kDeadlineSeconds).exit_code, 2);
}

}  // namespace
}  // namespace trireme::test
