// Where the time of a run went, its workers, events and machines, from files in any state.
#include "watch/records/run_details.h"

#include <gtest/gtest.h>

#include <cmath>

#include "watch/records/resource_usage.h"
#include "watch/report/report.h"
#include "watch/run_folders.h"

namespace trireme::watch {
namespace {

class RunDetailsOf : public testing::Test {
 protected:
  void metrics(const std::string& text) {
    write_file(run_ / "run.json", run_json("lenet5", 2));
    write_file(run_ / "metrics.jsonl", text);
  }
  RunFolderDetails details() const { return read_details(*read_run(run_)); }

  base::TemporaryFolder folder_{"details"};
  base::fs::path run_ = folder_.path() / "r";
};

std::string workers_line(int step, double first, double second) {
  const auto worker = [](int number, double backward) {
    return R"({"worker":)" + std::to_string(number) + R"(,"host":"h)" + std::to_string(number) +
           R"(","seconds":{"backward":)" + std::to_string(backward) + R"(,"network":0.5},"steps":10,)" +
           R"("caused_seconds":0.25,"oars":[0,3],"clock":0})";
  };
  return R"({"type":"workers","step":)" + std::to_string(step) + R"(,"seconds":2,"lateness":"worker 1 is late",)" +
         R"("workers":[)" + worker(0, first) + "," + worker(1, second) + "]}\n";
}

TEST_F(RunDetailsOf, WorkersAddUpAcrossLinesAndResumes) {
  metrics(R"({"type":"step","step":1,"loss":1,"seconds":{"load":1,"forward":2,"backward":3,"network":4,"update":5}})"
          "\n" +
          workers_line(1, 1, 2) + R"({"type":"resumed","step":1,"time":1000.5})" + "\n" + workers_line(2, 10, 20) +
          "{\"type\":\"wor");
  const RunFolderDetails all = details();
  EXPECT_EQ(all.seconds.total(), 15);
  EXPECT_EQ(all.steps, 1);
  EXPECT_EQ(all.stepping_seconds, 4);
  ASSERT_EQ(all.workers.size(), 2u);
  EXPECT_DOUBLE_EQ(all.workers[1].seconds.backward, 22);
  EXPECT_EQ(all.workers[1].steps, 20);
  EXPECT_EQ(all.workers[0].oars, 3);
  EXPECT_DOUBLE_EQ(all.workers[0].caused_seconds, 0.5);
  EXPECT_EQ(all.lateness, "worker 1 is late");
  EXPECT_EQ(all.damaged_lines, 1);
  ASSERT_EQ(all.incidents.size(), 1u);
  EXPECT_EQ(all.incidents[0].kind, "resumed");
  EXPECT_EQ(all.incidents[0].time, 1000.5);
}

TEST_F(RunDetailsOf, ALostWorkerKeepsItsNumbersAndOthersMoveUp) {
  metrics(workers_line(1, 1, 2) + R"({"type":"lost","step":1,"who":"worker 0 on h0","workers_left":1})" + "\n");
  const RunFolderDetails all = details();
  ASSERT_EQ(all.workers.size(), 1u);
  EXPECT_EQ(all.workers[0].host, "h1");
  ASSERT_EQ(all.lost_workers.size(), 1u);
  EXPECT_EQ(all.lost_workers[0].first, "worker 0 on h0");
  EXPECT_DOUBLE_EQ(all.lost_workers[0].second.seconds.backward, 1);
}

TEST_F(RunDetailsOf, AnOlderRunHasItsWorkersInTheSummary) {
  metrics(step_line(1, 0.5));
  write_file(run_ / "summary.json",
             R"({"seconds":{"total":9,"evaluation":1,"checkpoint":2},"lateness":"","staleness":{"0":3,"2":1},)"
             R"("per_worker":[{"host":"a","oars":4,"seconds":{"forward":3},"sent_bytes":10,"received_bytes":20},)"
             R"({"host":"b","oars":null,"seconds":{"forward":4},"caused_waiting_seconds":1.5}]})");
  const RunFolderDetails all = details();
  EXPECT_EQ(all.evaluation_seconds, 1);
  EXPECT_TRUE(std::isnan(all.stepping_seconds));
  ASSERT_EQ(all.workers.size(), 2u);
  EXPECT_EQ(all.workers[0].oars, 4);
  EXPECT_EQ(all.workers[1].oars, -1);
  EXPECT_EQ(all.workers[1].seconds.forward, 4);
  EXPECT_EQ(all.workers[1].caused_seconds, 1.5);
  EXPECT_EQ(all.staleness.at(2), 1);
}

TEST_F(RunDetailsOf, NonsenseInEveryFieldIsSurvived) {
  for (const char* value : {"null", "5", "\"x\"", "[]", "{}", "[[]]", "1e300", "true", "-1"}) {
    std::string text;
    for (const char* type : {"step", "epoch", "workers", "confusion", "hand_over", "lost", "resumed", "checkpoint",
                             "layers", "hash", "diverged", "detached", "new"})
      text += R"({"type":")" + std::string(type) + R"(","step":)" + value + R"(,"time":)" + value + R"(,"seconds":)" +
              value + R"(,"workers":)" + value + R"(,"classes":)" + value + R"(,"counts":)" + value + R"(,"who":)" +
              value + R"(,"staleness":)" + value + R"(,"is_switch":true,"weights_sha256":)" + value + "}\n";
    metrics(text);
    for (const char* file : {"summary.json", "resources.jsonl"})
      write_file(run_ / file, R"({"host":)" + std::string(value) + R"(,"rank":)" + value + R"(,"time":)" + value +
                                  R"(,"seconds":)" + value + R"(,"per_worker":)" + value + "}\n");
    const RunRecord run = *read_run(run_);
    EXPECT_NE(report_of({run, run}).find("</html>"), std::string::npos) << value;
  }
}

TEST_F(RunDetailsOf, ResourcesAreTotalsOverHostsAndProcesses) {
  metrics("");
  std::string text;
  for (int second = 1; second <= 4; ++second)
    for (const char* host : {"a", "b"}) {
      const std::string time =
          R"(,"time":)" + std::to_string(1000 + second) + R"(.2,"seconds":)" + std::to_string(second);
      text += R"({"host":")" + std::string(host) + R"(","rank":null)" + time +
              R"(,"cores":4,"cpu_user":2,"cpu_system":1,"memory_used_bytes":100,"network_received_bytes":)" +
              std::to_string(100 * second) + R"(,"network_sent_bytes":50})" + "\n";
      text += R"({"host":")" + std::string(host) + R"(","rank":)" + (host[0] == 'a' ? "0" : "1") + time +
              R"(,"cpu_user":1.5,"cpu_system":0.5,"resident_bytes":30})" + "\n";
    }
  write_file(run_ / "resources.jsonl", text + "{\"host\":\n");
  const ResourceUsage usage = read_resources(run_);
  EXPECT_EQ(usage.cores, 8);
  EXPECT_EQ(usage.hosts, (std::vector<std::string>{"a", "b"}));
  EXPECT_DOUBLE_EQ(mean_of_series(usage.cpu_share), 6.0 / 8);
  EXPECT_DOUBLE_EQ(mean_of_series(usage.run_cores), 4);
  EXPECT_DOUBLE_EQ(peak_of_series(usage.run_memory), 60);
  EXPECT_DOUBLE_EQ(peak_of_series(usage.host_memory), 200);
  EXPECT_DOUBLE_EQ(peak_of_series(usage.network), 800) << "received, in the last second, by both";
  EXPECT_TRUE(read_resources(folder_.path()).is_empty());
}

}  // namespace
}  // namespace trireme::watch
