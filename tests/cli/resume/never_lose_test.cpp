// Going on after a loss that is no number, with moved data, and from other folders; what a run records of its starts.
#include <fmt/core.h>

#include <functional>
#include <limits>

#include "cli/program.h"
#include "store/checkpoint.h"

namespace trireme::cli_test {
namespace {

class NeverLose : public Program {
 protected:
  // 64 training and 16 test rows of 3 numbers and a class.
  void write_table(const std::string& name, int shift = 0) const {
    fs::create_directories((folder() / name).parent_path());
    std::string rows;
    for (int i = 0; i < 80; ++i)
      rows += fmt::format("{},{},{},{}\n", (i * 7 + shift) % 11, (i * 5) % 13, i % 3, i % 3 == 1 ? "a" : "b");
    write(folder() / name, rows);
  }
  Json run_json(const std::string& run) const { return Json::parse(read(folder() / run / "run.json")); }
  // Changes every weight of a checkpoint, with the hashes, as if the run had written it so.
  void falsify_weights(const std::string& checkpoint, const std::function<void(float&)>& change) const {
    const fs::path place = folder() / checkpoint;
    store::LoadedCheckpoint loaded = store::CheckpointStore::load(place);
    for (store::NamedTensor& tensor : loaded.weights.tensors)
      for (float& weight : tensor.values) change(weight);
    const std::string hash =
        store::write_safetensors(place / "weights.safetensors", loaded.weights.tensors, loaded.weights.metadata);
    Json state = Json::parse(read(place / "state.json"));
    state["sha256"]["weights.safetensors"] = hash;
    state.erase("checksum");
    write(place / "state.json", state.dump());
  }
  // The command that an error advises, without the program's name.
  static Words advised(const std::string& sentence) {
    const std::string mark = "go on with: ";
    std::string text = sentence.substr(sentence.find(mark) + mark.size());
    text = text.substr(text.find(' ') + 1);
    Words words;
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t end = std::min(text.find_first_of(" \n", at), text.size());
      if (end > at) words.push_back(text.substr(at, end - at));
      at = end + 1;
    }
    return words;
  }
};

const Words kTable{"train", "--model", "mlp", "--batch", "16", "--schedule", "constant"};

TEST_F(NeverLose, AfterALossThatIsNoNumberTheAdvisedCommandWorks) {
  struct Case {
    Words options;
    bool has_checkpoint;
  };
  int number = 0;
  for (const Case& one : {Case{{"--optimizer", "sgd:lr=0.05", "--schedule", "step:2=1e38"}, true},
                          Case{{"--optimizer", "sgd:lr=1e38,momentum=0.9"}, false},
                          Case{{"--optimizer", "sgd:lr=1e38", "--workers", "2"}, false}}) {
    const std::string name = "r" + std::to_string(++number);
    const Outcome outcome = train(Words{"--epochs", "6", "--run", name} + one.options);
    expect_sentence(outcome, 1,
                    {"became", "step", "learning rate", "train --resume " + name, "--optimizer", "--clip 1"});
    EXPECT_EQ(outcome.err.find("last good checkpoint is " + name + "/checkpoints/step-00000008") != std::string::npos,
              one.has_checkpoint)
        << outcome.err;
    const Outcome again = run(advised(outcome.err) + Words{"--json"});
    EXPECT_EQ(again.code, 0) << again.err;
    EXPECT_EQ(last_json(again)["steps"], 24) << again.out;
    const Json starts = run_json(name)["starts"];
    ASSERT_EQ(starts.size(), 2u);
    EXPECT_EQ(starts[1]["step"], one.has_checkpoint ? 8 : 0);
    std::string changed;
    for (const Json& change : starts[1]["changes"]) changed += change["option"].get<std::string>() + " ";
    EXPECT_EQ(changed, one.has_checkpoint ? "clip optimizer schedule " : "clip optimizer ");
    const std::string metrics = read(folder() / name / "metrics.jsonl");
    EXPECT_NE(metrics.find(R"("type":"diverged")"), std::string::npos) << "it stays in the record";
    // Past that step, everything is as in any other run.
    expect_refused({"train", "--resume", name, "--epochs", "7", "--clip", "7"}, {"--clip", "1", "7"});
  }
}

TEST_F(NeverLose, AfterALossThatIsNoNumberOtherOptionsStay) {
  train({"--epochs", "6", "--optimizer", "sgd:lr=0.05", "--schedule", "step:2=1e38", "--run", "r"});
  expect_refused({"train", "--resume", "r", "--seed", "7"}, {"--seed"});
  expect_sentence(run({"train", "--resume", "r", "--optimizer", "adam"}), 2, {"optimizer"});
  trained({"--resume", "r", "--steps", "8"});
  EXPECT_EQ(trained({"--resume", "r", "--steps", "9", "--schedule", "constant"})["steps"], 9)
      << "the run has not passed the step yet";
}

// Only other programs write such checkpoints.
TEST_F(NeverLose, ACheckpointOfNumbersThatAreNotFiniteDoesNotCount) {
  trained(kSteady + Words{"--epochs", "2", "--run", "r"});
  const Json whole = trained(kSteady + Words{"--epochs", "3", "--run", "whole"});
  falsify_weights("r/checkpoints/step-00000008",
                  [](float& weight) { weight = std::numeric_limits<float>::quiet_NaN(); });
  const Outcome outcome = run({"train", "--resume", "r", "--epochs", "3", "--json"});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_NE(outcome.err.find("step-00000008"), std::string::npos) << outcome.err;
  EXPECT_NE(outcome.err.find("not finite"), std::string::npos) << outcome.err;
  EXPECT_EQ(last_json(outcome)["weights_sha256"], whole["weights_sha256"]);
}

// Numbers that are finite, but not what a network computes with them.
TEST_F(NeverLose, ACheckpointOfHugeNumbersIsSaidToBeUseless) {
  trained(kSteady + Words{"--epochs", "2", "--optimizer", "sgd:lr=1e-30", "--run", "r"});
  falsify_weights("r/checkpoints/step-00000008", [](float& weight) { weight = 3e38F; });
  const Outcome outcome = run({"train", "--resume", "r", "--epochs", "3"});
  expect_sentence(outcome, 1, {"became", "step 9", "r/checkpoints/step-00000008", "too large already"});
  const Outcome again = run(advised(outcome.err) + Words{"--json"});
  EXPECT_EQ(again.code, 0) << again.err;
  EXPECT_EQ(last_json(again)["run"], "r-again");
  EXPECT_EQ(last_json(again)["steps"], 12);
}

TEST_F(NeverLose, FewerStepsThanDoneAreRefused) {
  trained(kSteady + Words{"--epochs", "3", "--run", "r"});
  expect_refused({"train", "--resume", "r", "--epochs", "2"}, {"12 steps", "the 8 of --epochs 2"});
  expect_refused({"train", "--resume", "r", "--steps", "5"}, {"12 steps", "the 5 of --steps"});
  expect_refused({"train", "--resume", "r", "--steps", "5", "--workers", "2", "--strategy", "allreduce"},
                 {"12 steps", "the 5 of --steps"});
  EXPECT_EQ(trained({"--resume", "r", "--steps", "12"})["steps"], 12);
}

TEST_F(NeverLose, MovedDataIsFoundByItsHash) {
  write_table("one/table.csv");
  const Words options = kTable + Words{"--validation", "25%"};
  const Outcome whole = run(options + Words{"--data", "one/table.csv", "--epochs", "2", "--run", "whole", "--json"});
  ASSERT_EQ(whole.code, 0) << whole.err;
  run(options + Words{"--data", "one/table.csv", "--epochs", "1", "--run", "r"});
  const Json before = last_json(run({"eval", "--run", "r", "--split", "validation", "--json"}));
  EXPECT_EQ(run_json("r")["configuration"]["data"], (folder() / "one/table.csv").string());
  fs::create_directory(folder() / "two");
  fs::rename(folder() / "one/table.csv", folder() / "two/moved.csv");
  write_table("other.csv", 1);
  const std::string place = (folder() / "one/table.csv").string();
  expect_refused({"train", "--resume", "r", "--epochs", "2"}, {place, "train --resume r --data PLACE"});
  expect_refused({"train", "--resume", "r", "--epochs", "2", "--workers", "2", "--strategy", "allreduce"},
                 {place, "--data PLACE"});
  expect_refused({"eval", "--run", "r"}, {place, "--data PLACE"});
  expect_refused({"predict", "--run", "r"}, {place, "--data PLACE"});
  expect_refused({"train", "--resume", "r", "--epochs", "2", "--data", "other.csv"}, {"not that of the run"});
  const Json after =
      last_json(run({"eval", "--run", "r", "--split", "validation", "--data", "two/moved.csv", "--json"}));
  EXPECT_EQ(after["samples"], before["samples"]) << "the run's own validation share";
  EXPECT_EQ(after["loss"], before["loss"]);
  const Outcome resumed = run({"train", "--resume", "r", "--epochs", "2", "--data", "two/moved.csv", "--json"});
  EXPECT_EQ(resumed.code, 0) << resumed.err;
  EXPECT_EQ(last_json(resumed)["weights_sha256"], last_json(whole)["weights_sha256"]);
  EXPECT_EQ(run_json("r")["configuration"]["data"], (folder() / "two/moved.csv").string());
}

TEST_F(NeverLose, ARunGoesOnFromAnotherFolder) {
  write_table("one/table.csv");
  ASSERT_EQ(run(kTable + Words{"--data", "one/table.csv", "--epochs", "1", "--run", "r"}).code, 0);
  fs::create_directory(folder() / "elsewhere");
  for (const Words& rest :
       {Words{"train", "--resume", "../r", "--epochs", "2"}, Words{"eval", "--run", "../r"},
        Words{"predict", "--run", "../r"}, Words{"train", "--config", "../r/run.json", "--run", "again"}}) {
    Words words = command(rest);
    *std::ranges::find(words, folder().string()) = (folder() / "elsewhere").string();
    const test::Finished finished = test::run_process(words);
    EXPECT_EQ(finished.exit_code, 0) << rest[0] << ": " << finished.err;
  }
}

// As older programs recorded it: the path as it was given.
TEST_F(NeverLose, APathFromTheFolderStaysOne) {
  write_table("table.csv");
  ASSERT_EQ(run(kTable + Words{"--data", "table.csv", "--epochs", "1", "--run", "r"}).code, 0);
  Json json = run_json("r");
  json.erase("checksum");
  json.erase("starts");
  json["configuration"]["data"] = "table.csv";
  write(folder() / "r/run.json", json.dump());
  EXPECT_EQ(run({"eval", "--run", "r"}).code, 0);
  EXPECT_EQ(run({"train", "--resume", "r", "--epochs", "2", "--data", "table.csv"}).code, 0);
  EXPECT_EQ(run_json("r")["starts"].size(), 1u) << "the first start is not known";
}

TEST_F(NeverLose, AResumedRunGoesOnWithItsTrace) {
  const auto spans = [&](const std::string& wanted) {
    std::vector<double> starts;
    const Json trace = Json::parse(read(folder() / "r/trace.json"));
    for (const Json& event : trace["traceEvents"])
      if (event["name"] == wanted) starts.push_back(event["ts"]);
    return starts;
  };
  trained(kSteady + Words{"--epochs", "1", "--run", "r"});
  ASSERT_EQ(spans("step").size(), 4u);
  trained({"--resume", "r", "--epochs", "2", "--workers", "2", "--strategy", "allreduce"});
  trained({"--resume", "r", "--epochs", "3"});
  const std::vector<double> steps = spans("step"), resumes = spans("resumed");
  ASSERT_EQ(steps.size(), 4u + 2 * 4u + 2 * 4u) << "4 steps of each worker an epoch";
  ASSERT_EQ(resumes.size(), 2u);
  for (int i = 0; i < 4; ++i) EXPECT_LT(steps[static_cast<std::size_t>(i)], resumes[0]);
  EXPECT_LT(resumes[0], resumes[1]);
}

TEST_F(NeverLose, ARunRecordsItsStarts) {
  trained(kSteady + Words{"--epochs", "1", "--run", "a run"});
  ASSERT_EQ(run({"train", "--resume", "a run", "--epochs", "2", "--workers", "2", "--strategy", "allreduce"}).code, 0);
  const Json starts = run_json("a run")["starts"];
  ASSERT_EQ(starts.size(), 2u);
  for (const Json& start : starts) {
    EXPECT_EQ(start["date"].get<std::string>().size(), std::string("2026-01-31T12:00:00Z").size());
    EXPECT_EQ(start["host"], run_json("a run")["host"]["name"]);
  }
  EXPECT_NE(starts[0]["command"].get<std::string>().find(" --run 'a run'"), std::string::npos) << starts[0];
  EXPECT_EQ(starts[0]["step"], 0);
  EXPECT_EQ(starts[1]["step"], 4);
  EXPECT_TRUE(starts[0]["changes"].empty());
  Json changes = Json::object();
  for (const Json& change : starts[1]["changes"]) changes[change["option"].get<std::string>()] = change["to"];
  EXPECT_EQ(changes, (Json{{"epochs", "2"}, {"strategy", "allreduce"}, {"workers", "2"}}));
}

}  // namespace
}  // namespace trireme::cli_test
