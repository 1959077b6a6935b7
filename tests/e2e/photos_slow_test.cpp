// From a folder of photos to predictions, as a new user goes: examples/photos draws them, then init, train by two
// workers that are killed, resume, and predict a flat folder of others.
#include <map>
#include <sstream>

#include "e2e/strategies.h"

namespace trireme::test {
namespace {

constexpr double kShareRight = 0.95;

class Photos : public Strategies {
 protected:
  void SetUp() override {
    Strategies::SetUp();
    if (IsSkipped()) return;
    if (run_process({"python3", "-c", "0"}).exit_code != 0) GTEST_SKIP() << "there is no python3";
    if (run_process({"cjpeg", "-version"}).exit_code != 0)
      GTEST_SKIP() << "there is no cjpeg to make JPEG images; install libjpeg-turbo-progs";
  }
  Finished trireme(const Arguments& arguments) const {
    return run_process(Arguments{trireme_binary()} + arguments, {}, kDeadlineSeconds);
  }
  // Lines of a CSV file without quoted fields, in cells.
  static std::vector<Arguments> cells_of(const std::string& text) {
    std::vector<Arguments> rows;
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
      std::istringstream fields(line);
      rows.emplace_back();
      for (std::string field; std::getline(fields, field, ',');) rows.back().push_back(field);
    }
    return rows;
  }
};

TEST_F(Photos, AreLearntByTwoWorkersThatAreKilledOnTheWay) {
  const Finished drawn = run_process(
      {"python3", "-B", std::string(TRIREME_SOURCE_DIR) + "/examples/photos/make_photos.py", folder("shapes")});
  ASSERT_EQ(drawn.exit_code, 0) << drawn.err;
  for (const char* file :
       {"shapes/photos/круг/000.png", "shapes/photos/三角形/001.jpg", "shapes/photos/Würfel/099.jpg"})
    EXPECT_TRUE(fs::exists(folder(file))) << file;

  const Finished made = trireme({"init", folder("first"), "--data", folder("shapes/photos")});
  ASSERT_EQ(made.exit_code, 0) << made.err;
  for (const char* saying : {"240 training and 60 test", "круг", "三角形", "Würfel"})
    EXPECT_NE(made.out.find(saying), std::string::npos) << saying << " is not in\n" << made.out;

  {
    Process process(
        {trireme_binary(), "train", "--config", folder("first/train.toml"), "--workers", "2", "--run", folder("r")});
    ASSERT_TRUE(wait_until([&] { return metrics_of(folder("r"), "epoch").size() >= 9; }));
    const std::vector<pid_t> workers = children_of(process.number());
    EXPECT_EQ(workers.size(), 2u) << process.errors_so_far();
    for (const pid_t worker : workers) ::kill(worker, SIGKILL);
    EXPECT_NE(process.wait(kDeadlineSeconds).exit_code, 0);
    EXPECT_FALSE(fs::exists(folder("r/summary.json"))) << "it was over too soon";
  }
  const Finished resumed = trireme({"train", "--resume", folder("r"), "--json"});
  ASSERT_EQ(resumed.exit_code, 0) << resumed.err;
  const Json summary = Json::parse(resumed.last_line());
  EXPECT_EQ(summary["workers"], 2);
  EXPECT_EQ(summary["best"]["chosen_on"], "validation");

  const Finished predicted =
      trireme({"predict", "--run", folder("r"), "--data", folder("shapes/new"), "--output", folder("predictions.csv")});
  ASSERT_EQ(predicted.exit_code, 0) << predicted.err;
  const std::vector<Arguments> rows = cells_of(text_of(folder("predictions.csv")));
  ASSERT_EQ(rows.size(), 31u);
  EXPECT_EQ(rows[0], (Arguments{"index", "file", "predicted", "p_Würfel", "p_круг", "p_三角形"}));
  std::map<std::string, std::string> classes;  // by file
  for (std::size_t i = 1; i < rows.size(); ++i) classes[fs::path(rows[i].at(1)).filename()] = rows[i].at(2);
  int right = 0;
  const std::vector<Arguments> truth = cells_of(text_of(folder("shapes/truth.csv")));
  ASSERT_EQ(truth.size(), 31u);
  for (std::size_t i = 1; i < truth.size(); ++i) {
    ASSERT_TRUE(classes.contains(truth[i].at(0))) << truth[i].at(0);
    right += classes[truth[i].at(0)] == truth[i].at(1) ? 1 : 0;
  }
  EXPECT_GE(right, kShareRight * 30) << text_of(folder("predictions.csv"));

  fs::rename(folder("shapes/photos/круг"), folder("shapes/photos/кольцо"));
  const Finished renamed = trireme({"eval", "--run", folder("r"), "--data", folder("shapes/photos")});
  EXPECT_EQ(renamed.exit_code, 2);
  for (const char* name : {"кольцо", "круг", "三角形", "Würfel"})
    EXPECT_NE(renamed.err.find(name), std::string::npos) << name << " is not in: " << renamed.err;
}

}  // namespace
}  // namespace trireme::test
