#include "watch/page/feed/run_feed.h"

#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "watch/page/feed/flat_json.h"
#include "watch/run_folders.h"

namespace trireme::watch {
namespace {

using Json = nlohmann::json;

class RunFeedTest : public testing::Test {
 protected:
  void SetUp() override { write_file(run_ / "run.json", run_json("lenet5", 2)); }
  void metrics(const std::string& text) { std::ofstream(run_ / "metrics.jsonl", std::ios::app) << text; }
  void poll() {
    while (feed_.poll(1 << 20)) {
    }
  }
  const SeriesTable* table(const std::string& name) const {
    const auto found = feed_.data().tables().find(name);
    return found == feed_.data().tables().end() ? nullptr : &found->second;
  }
  double value(const std::string& name, std::size_t row, const std::string& column) const {
    for (std::size_t c = 0; c < table(name)->columns().size(); ++c)
      if (table(name)->columns()[c].name == column) return table(name)->at(row, c);
    return std::nan("");
  }
  Json section(const std::string& name) const {
    const auto found = feed_.data().sections().find(name);
    return found == feed_.data().sections().end() ? Json() : Json::parse(found->second.json);
  }

  base::TemporaryFolder folder_{"run-feed"};
  base::fs::path run_ = folder_.path() / "run";
  RunFeed feed_{run_};
};

TEST_F(RunFeedTest, steps_epochs_and_marks_grow) {
  metrics(step_line(1, 2.5) + step_line(2, 2.25));
  poll();
  ASSERT_NE(table("steps"), nullptr);
  EXPECT_EQ(table("steps")->rows(), 2u);
  EXPECT_EQ(value("steps", 1, "loss"), 2.25);
  EXPECT_EQ(section("state"), "interrupted");
  const std::uint64_t version = feed_.data().version();
  poll();
  EXPECT_EQ(feed_.data().version(), version) << "nothing new";
  metrics(step_line(3, 2) + epoch_line(0, 0.75) + R"({"type":"lost","step":3,"who":"worker 1 on b","workers_left":1})" +
          "\n");
  poll();
  EXPECT_EQ(table("steps")->rows(), 3u);
  EXPECT_EQ(value("epochs", 0, "test_accuracy"), 0.75);
  ASSERT_EQ(section("marks").size(), 1u);
  EXPECT_EQ(section("marks")[0]["who"], "worker 1 on b");
  write_file(run_ / "summary.json", R"({"test_accuracy":0.75})");
  poll();
  EXPECT_EQ(section("state"), "finished");
  EXPECT_EQ(section("summary")["test_accuracy"], 0.75);
}

TEST_F(RunFeedTest, a_resumed_run_cuts_its_lines) {
  metrics(step_line(1, 3) + step_line(2, 2) +
          R"({"type":"checkpoint","step":2,"seconds":0.1,"is_best":false})"
          "\n");
  poll();
  write_file(run_ / "metrics.jsonl", step_line(1, 3) +
                                         R"({"type":"resumed","step":1})"
                                         "\n" +
                                         step_line(2, 2.5));
  poll();
  EXPECT_EQ(table("steps")->rows(), 2u);
  EXPECT_EQ(value("steps", 1, "loss"), 2.5);
  ASSERT_EQ(section("marks").size(), 1u);
  EXPECT_EQ(section("marks")[0]["type"], "resumed");
}

// A line of a step that took a second.
std::string step_at(int step, double time) {
  return R"({"type":"step","step":)" + std::to_string(step) + R"(,"time":)" + std::to_string(time) +
         R"(,"loss":1,"seconds":{"load":0.25,"forward":0.25,"backward":0.25,"network":0.0,"update":0.25}})"
         "\n";
}

TEST_F(RunFeedTest, time_is_without_that_between_an_interrupt_and_its_resume) {
  metrics(step_at(1, 1000) + step_at(2, 1002) +
          R"({"type":"checkpoint","step":2,"seconds":0.5,"is_best":false,"time":1003})"
          "\n"
          R"({"type":"resumed","step":2,"time":1056})"
          "\n" +
          step_at(3, 1057) + step_at(4, 1059));
  poll();
  const std::vector<double> expected{1, 3, 4, 6};
  for (std::size_t i = 0; i < expected.size(); ++i) EXPECT_DOUBLE_EQ(value("steps", i, "time"), expected[i]) << i;
  EXPECT_EQ(section("marks")[1]["elapsed"], 3);
}

TEST_F(RunFeedTest, time_goes_on_where_a_run_was_resumed_and_where_the_clock_was_set) {
  metrics(step_at(1, 1000) + step_at(2, 1002) + step_at(3, 90000) + step_at(4, 90002) + step_at(5, 500) +
          step_at(6, 502));
  poll();
  const std::vector<double> expected{1, 3, 4, 6, 7, 9};
  for (std::size_t i = 0; i < expected.size(); ++i) EXPECT_DOUBLE_EQ(value("steps", i, "time"), expected[i]) << i;
}

TEST_F(RunFeedTest, workers_resources_layers_and_pushes) {
  metrics(
      R"({"type":"workers","time":5,"step":4,"seconds":1.0,"lateness":"worker 1 is slow","workers":[)"
      R"({"worker":0,"host":"a","seconds":{"load":0.1,"forward":0.2},"steps":4,"caused_seconds":0,"oars":[0,2]},)"
      R"({"worker":1,"host":"b","seconds":{"forward":0.9},"steps":4,"caused_seconds":0.5,"oars":null,"clock":7}]})"
      "\n"
      R"({"type":"layers","step":4,"parameters":[{"name":"conv1.weight","elements":9,"weights":2.0,"gradients":null}]})"
      "\n"
      R"({"type":"push","step":4,"worker":1,"clock":3,"slowest":1})"
      "\n"
      R"({"type":"confusion","step":4,"epoch":0,"classes":["a","b"],"counts":[[1,2],[3,4]]})"
      "\n");
  write_file(run_ / "resources.jsonl",
             R"({"host":"a","rank":0,"time":10.5,"cpu_user":1.5})"
             "\n"
             R"({"host":"a","rank":null,"time":10.5,"cores":4,"core":{"user":[0.5]},"disk_busy":0.25})"
             "\n");
  poll();
  EXPECT_EQ(value("worker/0", 0, "oars"), 2);
  EXPECT_TRUE(std::isnan(value("worker/1", 0, "oars")));
  EXPECT_EQ(value("worker/1", 0, "caused_seconds"), 0.5);
  EXPECT_EQ(section("workers")["lateness"], "worker 1 is slow");
  EXPECT_EQ(value("layer/conv1.weight", 0, "weights"), 2);
  EXPECT_EQ(section("pushes")[0]["who"], "worker 1");
  EXPECT_EQ(section("pushes")[0]["staleness"][0][0], 2);
  EXPECT_EQ(section("confusion")["counts"][1][0], 3);
  EXPECT_EQ(value("resources/a/0", 0, "cpu_user"), 1.5);
  EXPECT_EQ(value("resources/a/null", 0, "disk_busy"), 0.25);
  EXPECT_EQ(section("host/a")["core"]["user"][0], 0.5);
}

// Files of newer versions, and damaged ones: what cannot be read is left out, and what can be is shown.
TEST_F(RunFeedTest, damage_and_the_unknown_are_passed_over) {
  metrics(R"({"type":"step","step":1,"loss":1e999,"new":{"deep":[1,{"x":"}\""}]},"lr":0.5})"
          "\n"
          "\n{}\n[1,2]\nnull\n{\"type\":\"step\"\n"
          R"({"type":"step","loss":2})"
          "\n"
          R"({"type":"nonsense","step":5})"
          "\n"
          R"({"type":"workers","workers":[1,null,{"worker":"x"},{"worker":2,"seconds":[],"oars":["a"]}]})"
          "\n"
          R"({"type":"layers","parameters":[{"name":3},4]})"
          "\n"
          R"({"type":"lost","who":3})"
          "\n"
          R"({"type":"push","worker":{},"clock":"x"})"
          "\n" +
          std::string("\xff\xfe\x00{{{{", 7) + "\n" + R"({"type":"step","step":2,"loss":0.5})" + "\n{\"type\":\"st");
  write_file(run_ / "resources.jsonl", "{\"host\":\"a\",\"rank\":1}\n{\"host\":[],\"rank\":1}\n{\"host\":\"a\"\n{}\n");
  write_file(run_ / "summary.json", "{\"test_loss\":");
  write_file(run_ / "trace_now.json", "[[[[");
  poll();
  ASSERT_EQ(table("steps")->rows(), 2u);
  EXPECT_EQ(value("steps", 0, "lr"), 0.5);
  EXPECT_EQ(value("steps", 1, "loss"), 0.5);
  EXPECT_EQ(section("summary"), Json());
  for (const auto& [name, one] : feed_.data().sections()) EXPECT_TRUE(Json::accept(one.json)) << name;
}

TEST(flat_json, finds_members_and_refuses_what_does_not_match) {
  std::vector<std::string> found;
  const auto take = [&](std::string_view name, std::string_view value) {
    found.push_back(std::string(name) + "=" + std::string(value));
  };
  EXPECT_TRUE(for_each_member(R"( { "a" : 1.5 , "b":"x,}\"y", "c":{"d":[1,{}]},"e":null } )", take));
  EXPECT_EQ(found, (std::vector<std::string>{"a=1.5", R"(b="x,}\"y")", R"(c={"d":[1,{}]})", "e=null"}));
  for (const char* bad :
       {"", "{", "[]", "{\"a\"}", "{\"a\":1", "{\"a\":[1}", "{\"a", "{\"a\":\"", "{a:1}", "{\"a\":1]"})
    EXPECT_FALSE(for_each_member(bad, [](auto, auto) {})) << bad;
  EXPECT_TRUE(for_each_member("{}", take));
  EXPECT_EQ(number_of("1e-3"), 1e-3);
  EXPECT_TRUE(std::isnan(number_of("null")));
  EXPECT_TRUE(std::isnan(number_of("1x")));
  EXPECT_EQ(plain_text_of("\"ab\""), "ab");
}

}  // namespace
}  // namespace trireme::watch
