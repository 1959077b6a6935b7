// Same bits for everything beside the plain step: optimizers with state, clipping, penalties, dropout, augmentation,
// validation and evaluation, each on 1 and 3 threads of the real program; and resuming across a change of kernels.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "support/process.h"

namespace trireme::test {
namespace {

using Arguments = std::vector<std::string>;

struct Case {
  const char* name;
  Arguments options;
};

nlohmann::json summary_of(const Finished& finished) {
  EXPECT_EQ(finished.exit_code, 0) << finished.err;
  const auto json = nlohmann::json::parse(finished.last_line(), nullptr, false);
  return json.is_object() ? json : nlohmann::json::object();
}

nlohmann::json train(const std::string& run, const Arguments& options) {
  Arguments all{trireme_binary(),  "train", "--data",         "synthetic", "--batch", "14", "--oars", "5",
                "--train-samples", "60",    "--test-samples", "33",        "--run",   run,  "--json", "--quiet"};
  all.insert(all.end(), options.begin(), options.end());
  return summary_of(run_process(all));
}

class Bits : public testing::TestWithParam<Case> {};

TEST_P(Bits, DoNotDependOnThreads) {
  if (trireme_binary().empty()) GTEST_SKIP() << "TRIREME_BINARY is not set";
  const TemporaryFolder folder;
  Arguments options = GetParam().options;
  options.insert(options.end(), {"--threads", "1"});
  const auto one = train((folder / "one").string(), options);
  options.back() = "3";
  const auto three = train((folder / "three").string(), options);
  for (const char* field : {"weights_sha256", "train_loss", "train_accuracy", "test_loss", "test_accuracy", "steps"})
    EXPECT_EQ(one[field], three[field]) << field;
  EXPECT_EQ(one.value("weights_sha256", "").size(), 64u);
  EXPECT_EQ(three.value("threads", 0), 3);
}

INSTANTIATE_TEST_SUITE_P(
    Settings, Bits,
    testing::Values(Case{"momentum", {"--model", "lenet5", "--epochs", "2"}},
                    Case{"adam_clip", {"--model", "lenet5", "--steps", "7", "--optimizer", "adam", "--clip", "0.5"}},
                    Case{"adadelta_dropout", {"--model", "mnist-cnn", "--steps", "5", "--optimizer", "adadelta"}},
                    Case{"penalty", {"--model", "resnet56v2-cifar", "--steps", "3"}},
                    Case{"augment", {"--model", "resnet20-cifar", "--steps", "5", "--augment", "crop,flip"}},
                    Case{"validation", {"--model", "lenet5", "--epochs", "2", "--validation", "20%"}},
                    Case{"last_batch", {"--model", "lenet5", "--epochs", "2", "--last-batch", "drop"}},
                    Case{"one_channel", {"--model", "densenet40-12", "--steps", "3"}},
                    Case{"spectra", {"--model", "redshift-cnn", "--steps", "3", "--optimizer", "adagrad"}}),
    [](const auto& test) { return std::string(test.param.name); });

TEST(Bits, DependOnSeedAndOars) {
  if (trireme_binary().empty()) GTEST_SKIP() << "TRIREME_BINARY is not set";
  const TemporaryFolder folder;
  const auto base = train((folder / "a").string(), {"--model", "lenet5", "--steps", "3"});
  const auto seed = train((folder / "b").string(), {"--model", "lenet5", "--steps", "3", "--seed", "2"});
  EXPECT_NE(base["weights_sha256"], seed["weights_sha256"]);
  const Finished other_oars = run_process(
      {trireme_binary(), "train",  "--data",          "synthetic", "--batch",        "14",
       "--oars",         "2",      "--train-samples", "60",        "--test-samples", "33",
       "--model",        "lenet5", "--steps",         "3",         "--run",          (folder / "c").string(),
       "--json",         "--quiet"});
  EXPECT_NE(base["weights_sha256"], summary_of(other_oars)["weights_sha256"]);
}

TEST(Bits, OfARunAreGuardedWhenItIsResumed) {
  if (trireme_binary().empty()) GTEST_SKIP() << "TRIREME_BINARY is not set";
  const TemporaryFolder folder;
  const std::string run = (folder / "run").string();
  train(run, {"--model", "lenet5", "--steps", "3"});
  // As if the run had begun on a machine whose kernels give other results.
  auto json = nlohmann::ordered_json::parse(text_of(run + "/run.json"));
  json["fingerprint"][0]["hash"] = "0000000000000000";
  json.erase("checksum");  // it would fit there
  std::ofstream(run + "/run.json") << json.dump(2);
  const Finished refused = run_process({trireme_binary(), "train", "--resume", run, "--steps", "5", "--quiet"});
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_NE(refused.err.find(json["fingerprint"][0]["kernel"].get<std::string>()), std::string::npos) << refused.err;
  const Finished accepted = run_process(
      {trireme_binary(), "train", "--resume", run, "--steps", "5", "--allow-other-bits", "--json", "--quiet"});
  EXPECT_EQ(summary_of(accepted).value("steps", 0), 5);
}

}  // namespace
}  // namespace trireme::test
