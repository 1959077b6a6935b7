// Run folders that were edited or damaged: what is found, what an older checkpoint makes up for, and that folders of
// older versions, which have no checksums, are read as before.
#include <functional>

#include "cli/program.h"

namespace trireme::cli_test {
namespace {

constexpr const char* kState = "r/checkpoints/step-00000008/state.json";

class Integrity : public Program {
 protected:
  void edit(const fs::path& file, const std::function<void(Json&)>& change) const {
    Json json = Json::parse(read(folder() / file));
    change(json);
    write(folder() / file, json.dump());
  }
  // As older versions wrote them.
  void forget_checksums() const {
    edit("r/run.json", [](Json& json) { EXPECT_EQ(json.erase("checksum"), 1u); });
    for (const auto& entry : fs::directory_iterator(folder() / "r/checkpoints"))
      if (entry.is_directory())
        edit(fs::path("r/checkpoints") / entry.path().filename() / "state.json",
             [](Json& json) { EXPECT_EQ(json.erase("checksum"), 1u); });
  }
  // Two epochs of what `whole_` trains three of.
  void SetUp() override {
    Program::SetUp();
    if (IsSkipped()) return;
    whole_ = trained(kSteady + Words{"--epochs", "3", "--run", "whole"})["weights_sha256"];
    trained(kSteady + Words{"--epochs", "2", "--run", "r"});
  }
  // It goes on as if nothing had happened; standard error has these words.
  void expect_third_epoch(const Words& sayings) const {
    const Outcome outcome = run({"train", "--resume", "r", "--epochs", "3", "--json"});
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    EXPECT_EQ(last_json(outcome).value("weights_sha256", ""), whole_) << outcome.err;
    EXPECT_EQ(outcome.err.find("internal error"), std::string::npos) << outcome.err;
    for (const std::string& saying : sayings)
      EXPECT_NE(outcome.err.find(saying), std::string::npos) << saying << " is not in: " << outcome.err;
    fs::remove_all(folder() / "r");
    trained(kSteady + Words{"--epochs", "2", "--run", "r"});
  }

  std::string whole_;
};

TEST_F(Integrity, AnEditedStateIsPassedOver) {
  const std::vector<std::function<void(Json&)>> changes{
      [](Json& json) { json["step"] = 9; },
      [](Json& json) { json["epoch"] = 1; },
      [](Json& json) { json["position"] = 16; },
      [](Json& json) { json["extra"]["train"]["best"] = 0.99; },
      [](Json& json) { json["extra"]["ledger"] = "1 2 0000000000000001 0000000000000000"; },
      [](Json& json) { json["checksum"] = std::string(64, '0'); },
  };
  for (const auto& change : changes) {
    edit(kState, change);
    expect_third_epoch({"step-00000008", "damaged", "the one before it"});
  }
}

TEST_F(Integrity, WithoutChecksumsTheStepIsStillThatOfTheFolder) {
  forget_checksums();
  edit(kState, [](Json& json) { json["step"] = 9; });
  expect_third_epoch({"step-00000008", "step 9"});
}

TEST_F(Integrity, ADamagedLedgerIsPassedOver) {
  for (const Json& ledger : {Json(nullptr), Json(7), Json::array(), Json("nonsense"), Json("1 2 3 4"), Json("")}) {
    forget_checksums();
    edit(kState, [&](Json& json) { json["extra"]["ledger"] = ledger; });
    expect_third_epoch({"step-00000008", "damaged", "ledger"});
  }
}

TEST_F(Integrity, FoldersWithoutChecksumsGoOn) {
  forget_checksums();
  expect_third_epoch({});
}

TEST_F(Integrity, DamagedMetricsAreNoReasonToStop) {
  const fs::path metrics = folder() / "r/metrics.jsonl";
  write(metrics, read(metrics) +
                     "{\"step\": null}\n{\"step\": \"4\", \"type\": \"step\"}\n{\"step\": 8, \"type\": 3}\n" +
                     "{\"type\": \"epoch\"}\n[8]\n{\"step\": 1e99}\n\xff\xfe\n{\"step\": 7, \"ty");
  expect_third_epoch({});
  fs::remove(metrics);
  expect_third_epoch({});
}

TEST_F(Integrity, AnEditedRecordIsRefused) {
  const std::string good = read(folder() / "r/run.json");
  const std::vector<std::pair<const char*, const char*>> edits{
      {"seed", "2"}, {"optimizer", "sgd:lr=0.5"}, {"schedule", "cosine"}, {"threads", "2"}};
  for (const auto& [option, value] : edits) {
    edit("r/run.json", [&](Json& json) { json["configuration"][option] = value; });
    expect_refused({"train", "--resume", "r", "--epochs", "3"}, {"r/run.json", "changed", "--config r/run.json"});
    expect_refused({"eval", "--run", "r"}, {"r/run.json", "changed"});
    write(folder() / "r/run.json", good);
  }
  edit("r/run.json", [](Json& json) { json["normalization"]["kind"] = "standard"; });
  expect_refused({"train", "--resume", "r", "--workers", "2"}, {"r/run.json", "changed"});
  // The layout of the file is not what counts; and a new run may begin with an edited one.
  edit("r/run.json", [](Json& json) { json["normalization"]["kind"] = "none"; });
  expect_third_epoch({});
  edit("r/run.json", [](Json& json) { json["configuration"]["epochs"] = "3"; });
  EXPECT_EQ(trained({"--config", "r/run.json", "--run", "other"})["weights_sha256"], whole_);
}

TEST_F(Integrity, ANormalizationOfOtherDataIsOneSentence) {
  forget_checksums();
  edit("r/run.json", [](Json& json) {
    const Json one{{"mean", {0, 0, 0}}, {"divisor", {1, 1, 1}}};
    json["normalization"]["inputs"] = {one, one, one};
  });
  expect_refused({"train", "--resume", "r", "--epochs", "3"}, {"normalization", "3 inputs"});
  expect_refused({"eval", "--run", "r"}, {"normalization", "3 inputs"});
}

// Both checkpoints are gone: the sentence names one of them.
TEST_F(Integrity, NothingIsLeftToGoOnFrom) {
  for (const char* step : {"4", "8"})
    edit(std::string("r/checkpoints/step-0000000") + step + "/state.json", [](Json& json) { json["epoch"] = 9; });
  const Outcome outcome = run({"train", "--resume", "r", "--epochs", "3"});
  EXPECT_EQ(outcome.code, 2) << outcome.err;
  for (const char* saying : {"step-00000004", "step-00000008", "start a new run"})
    EXPECT_NE(outcome.err.find(saying), std::string::npos) << outcome.err;
}

}  // namespace
}  // namespace trireme::cli_test
