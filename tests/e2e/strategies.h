// Runs of several processes by the real program, for tests: what is compared between runs, and the processes of one
// that is under way.
#pragma once

#include <gtest/gtest.h>
#include <signal.h>

#include <chrono>
#include <fstream>
#include <functional>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "support/process.h"

namespace trireme::test {

using Json = nlohmann::json;
using Arguments = std::vector<std::string>;

inline Arguments operator+(Arguments some, const Arguments& more) {
  some.insert(some.end(), more.begin(), more.end());
  return some;
}

// "--workers 3 --servers 2" as arguments.
inline Arguments words(const std::string& text) {
  std::istringstream in(text);
  Arguments all;
  for (std::string word; in >> word;) all.push_back(word);
  return all;
}

inline std::vector<Json> metrics_of(const std::string& run, const std::string& type) {
  std::vector<Json> lines;
  std::istringstream in(text_of(run + "/metrics.jsonl"));
  for (std::string line; std::getline(in, line);)
    if (Json json = Json::parse(line, nullptr, false); json.is_object() && json.value("type", "") == type)
      lines.push_back(std::move(json));
  return lines;
}

// What must be equal, whoever computed: results of the run and of every epoch, with the ledger of samples.
inline Json results_of(const Json& summary, const std::string& run) {
  Json results = Json::object();
  for (const char* field : {"weights_sha256", "train_loss", "train_accuracy", "test_loss", "test_accuracy", "steps"})
    results[field] = summary.value(field, Json());
  results["epochs"] = Json::array();
  for (Json line : metrics_of(run, "epoch")) {
    for (const char* field : {"seconds", "strategy", "time"}) line.erase(field);
    results["epochs"].push_back(std::move(line));
  }
  return results;
}

// The first thing in which results differ, or nothing.
inline std::string difference(const Json& results, const Json& expected) {
  const Json patch = Json::diff(expected, results);
  if (patch.empty()) return "";
  const Json& first = patch.front();
  const Json::json_pointer path(first.value("path", ""));
  return first.dump().substr(0, 300) + " instead of " +
         (expected.contains(path) ? expected.at(path).dump().substr(0, 300) : "nothing");
}

// The processes that a launcher has started, by rank.
inline std::vector<pid_t> children_of(pid_t process) {
  std::vector<pid_t> all;
  std::ifstream in("/proc/" + std::to_string(process) + "/task/" + std::to_string(process) + "/children");
  for (pid_t child = 0; in >> child;) all.push_back(child);
  return all;
}

inline bool wait_until(const std::function<bool()>& holds, double seconds = 60) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
  while (!holds()) {
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  return true;
}

// One that ended but was not waited for counts as gone.
inline bool is_gone(pid_t process) {
  std::ifstream in("/proc/" + std::to_string(process) + "/stat");
  std::string line;
  if (!std::getline(in, line)) return true;
  const std::size_t name_end = line.rfind(')');
  return name_end == std::string::npos || line.compare(name_end, 3, ") Z") == 0;
}

class Strategies : public testing::Test {
 protected:
  static constexpr double kDeadlineSeconds = 180;  // generous, for sanitizers on a busy machine

  void SetUp() override {
    if (trireme_binary().empty()) GTEST_SKIP() << "TRIREME_BINARY is not set";
  }

  std::string folder(const std::string& name) const { return (folder_ / name).string(); }
  std::string new_folder() { return folder("run-" + std::to_string(++runs_)); }

  static Arguments command(const Arguments& options) {
    return Arguments{trireme_binary(), "train", "--json", "--quiet"} + options;
  }
  static Finished train(const Arguments& options) {
    Finished finished = run_process(command(options), {}, kDeadlineSeconds);
    EXPECT_FALSE(finished.timed_out) << finished.err;
    return finished;
  }
  // Of a run that must succeed without a word on standard error.
  static Json summary_of(const Finished& finished) {
    EXPECT_EQ(finished.exit_code, 0) << finished.err;
    EXPECT_EQ(finished.err, "");
    Json json = Json::parse(finished.last_line(), nullptr, false);
    return json.is_object() ? json : Json::object();
  }
  Json results(const Arguments& options) {
    const std::string run = new_folder();
    return results_of(summary_of(train(options + Arguments{"--run", run})), run);
  }
  static Json resumed(const std::string& run, const Arguments& options) {
    return results_of(summary_of(train(Arguments{"--resume", run} + options)), run);
  }
  static std::size_t steps_in(const std::string& run) { return metrics_of(run, "step").size(); }

 private:
  TemporaryFolder folder_;
  int runs_ = 0;
};

}  // namespace trireme::test
