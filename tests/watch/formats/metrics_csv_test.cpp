// The table of steps and epochs.
#include "watch/formats/metrics_csv.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <sstream>

#include "base/error.h"
#include "support/temporary_folder.h"
#include "watch/run_folders.h"

namespace trireme::watch {
namespace {

const char* const kHead =
    "run,type,set,step,epoch,time,loss,accuracy,mae,rmse,r2,f1_micro,f1_macro,exact_match,lr,epoch_seconds,"
    "load_seconds,forward_seconds,backward_seconds,network_seconds,update_seconds,hidden_network_seconds";

TEST(MetricsCsv, HasARowPerStepAndPerSetOfAnEpoch) {
  const test::TemporaryFolder folder;
  const base::fs::path run = folder / "a,b";
  write_file(run / "run.json", run_json("lenet5", 1));
  write_file(
      run / "metrics.jsonl",
      R"({"type":"step","step":1,"epoch":0,"loss":2.5,"accuracy":null,"lr":0.1,"time":100.25,)"
      R"("seconds":{"load":0.5,"forward":0.25,"backward":0.125,"network":0.0,"update":1e-05,"hidden_network":2.0}})"
      "\n"
      R"({"type":"workers","step":1,"workers":[]})"
      "\n" +
          epoch_line(0, 0.75) +
          R"({"type":"epoch","step":20,"epoch":1,"train_loss":0.5,"validation_loss":0.25,"validation_r2":0.5})"
          "\n{\"type\":\"step\",\"st");
  std::ostringstream rows;
  write_metrics_csv(expect_run(run), rows);
  EXPECT_EQ(rows.str(),
            "\"a,b\",step,train,1,0,100.25,2.5,,,,,,,,0.1,,0.5,0.25,0.125,0.0,1e-05,2.0\n"
            "\"a,b\",epoch,train,10,0,,0.4,0.8,,,,,,,0.05,2.5,,,,,,\n"
            "\"a,b\",epoch,test,10,0,,0.25,0.75,,,,,,,0.05,2.5,,,,,,\n"
            "\"a,b\",epoch,train,20,1,,0.5,,,,,,,,,,,,,,,\n"
            "\"a,b\",epoch,validation,20,1,,0.25,,,,0.5,,,,,,,,,,,\n");
  EXPECT_EQ(metrics_csv_head(), kHead);
  std::istringstream lines(rows.str());
  for (std::string line; std::getline(lines, line);)
    EXPECT_EQ(std::count(line.begin(), line.end(), ',') - 1, std::count(kHead, kHead + std::strlen(kHead), ','))
        << line;
}

TEST(MetricsCsv, IsANewFile) {
  const test::TemporaryFolder folder;
  const std::string file = folder / "metrics.csv";
  write_metrics_csv(std::vector<RunRecord>{}, file);
  EXPECT_EQ(base::read_text(file), std::string(kHead) + "\n");
  EXPECT_THROW(write_metrics_csv(std::vector<RunRecord>{}, file), base::Error);
  EXPECT_THROW(write_metrics_csv(std::vector<RunRecord>{}, "/dev/full"), base::Error);
}

}  // namespace
}  // namespace trireme::watch
