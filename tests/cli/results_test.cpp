// What train, eval and predict report, and that it agrees.
#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <set>
#include <sstream>

#include "cli/program.h"

namespace trireme::cli_test {
namespace {

using Results = Program;

const Words kEpochs{"--epochs", "3"};

std::vector<Json> metrics(const fs::path& run, const std::string& type) {
  std::vector<Json> all;
  for (const std::string& line : lines_of(read(run / "metrics.jsonl"))) {
    Json json = Json::parse(line);
    if (json["type"] == type) all.push_back(std::move(json));
  }
  return all;
}

TEST_F(Results, TheSummaryHasItsFields) {
  const Outcome outcome = train(kEpochs + Words{"--run", "r", "--json"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(lines_of(outcome.out).size(), 1u) << "with --json standard output belongs to the summary";
  const Json json = last_json(outcome);
  ASSERT_TRUE(json.is_object());
  EXPECT_EQ(json["steps"], 12);
  EXPECT_EQ(json["world"], 1);
  EXPECT_EQ(json["weights_sha256"].get<std::string>().size(), 64u);
  EXPECT_GE(json["test_accuracy"].get<double>(), 0);
  EXPECT_LE(json["test_accuracy"].get<double>(), 1);
  EXPECT_TRUE(std::isfinite(json["train_loss"].get<double>()));
  EXPECT_GT(json["samples_per_second"].get<double>(), 0);
  const Json& seconds = json["seconds"];
  double sum = 0;
  for (const char* part : {"load", "forward", "backward", "network", "update", "evaluation", "checkpoint"}) {
    ASSERT_TRUE(seconds.contains(part)) << part;
    sum += seconds[part].get<double>();
  }
  EXPECT_LE(sum, seconds["total"].get<double>() * 1.001) << "parts of the whole";
  EXPECT_EQ(Json::parse(read(folder() / "r/summary.json")), json);
}

TEST_F(Results, ARunLeavesWhatItsDocumentationSays) {
  trained(kSmall + kEpochs + Words{"--validation", "0%", "--run", "r"});
  const fs::path run = folder() / "r";
  for (const char* name : {"run.json", "metrics.jsonl", "resources.jsonl", "trace.json", "summary.json",
                           "checkpoints/best", "checkpoints/step-00000012/weights.safetensors",
                           "checkpoints/step-00000012/optimizer.safetensors", "checkpoints/step-00000012/state.json"})
    EXPECT_TRUE(fs::is_regular_file(run / name)) << name;
  EXPECT_EQ(metrics(run, "step").size(), 12u);
  EXPECT_EQ(metrics(run, "epoch").size(), 3u);
  const Json trace = Json::parse(read(run / "trace.json"));
  std::map<std::string, int> spans;  // of the lanes "steps" and "phases"
  int oars = 0;
  for (const Json& event : trace["traceEvents"]) {
    if (event["ph"] != "X") continue;
    if (event["tid"] < 10)
      ++spans[event["name"].get<std::string>()];
    else
      ++oars;
  }
  for (const char* name : {"step", "load", "forward", "backward", "update"}) EXPECT_EQ(spans[name], 12) << name;
  EXPECT_EQ(spans["evaluate"], 3);
  EXPECT_EQ(oars, 12 * 2 * 2) << "forward and backward of two oars a step";
  std::set<bool> is_about_host;
  for (const std::string& line : lines_of(read(run / "resources.jsonl"))) {
    const Json json = Json::parse(line);
    is_about_host.insert(json.at("rank").is_null());
    EXPECT_GT(json.at(json.at("rank").is_null() ? "memory_used_bytes" : "resident_bytes").get<double>(), 0);
  }
  EXPECT_EQ(is_about_host, (std::set<bool>{false, true}));
  const Json cluster = Json::parse(read(run / "summary.json")).at("cluster");
  EXPECT_EQ(cluster.at("hosts"), 1);
  EXPECT_GT(cluster.at("cores"), 0);
  EXPECT_GT(cluster.at("cpu_share_of_run"), 0);
  EXPECT_GT(cluster.at("memory_peak_bytes"), cluster.at("memory_peak_of_run_bytes"));
}

TEST_F(Results, EvalGivesWhatTrainingReported) {
  const Json summary = trained(kSmall + kEpochs + Words{"--validation", "0%", "--run", "r"});
  const Outcome outcome = run({"eval", "--run", "r", "--checkpoint", "last", "--json"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const Json last = last_json(outcome);
  EXPECT_EQ(last["samples"], 32);
  EXPECT_EQ(last["accuracy"], summary["test_accuracy"]);
  EXPECT_EQ(last["loss"], summary["test_loss"]);
  EXPECT_EQ(last["weights_sha256"], summary["weights_sha256"]);

  // The best checkpoint is that of the epoch with the highest accuracy, the earliest of equals.
  Json best;
  for (const Json& epoch : metrics(folder() / "r", "epoch"))
    if (best.is_null() || epoch["test_accuracy"] > best["test_accuracy"]) best = epoch;
  EXPECT_EQ(last_json(run({"eval", "--run", "r", "--json"}))["loss"], best["test_loss"]);
}

TEST_F(Results, PredictionsMatchTheAccuracy) {
  const Json summary = trained(kSmall + Words{"--epochs", "1", "--run", "r"});
  const Outcome shown = run({"predict", "--run", "r", "--checkpoint", "last"});
  ASSERT_EQ(shown.code, 0) << shown.err;
  const auto lines = lines_of(shown.out);
  ASSERT_EQ(lines.size(), 33u) << "a head and one line per test sample";
  EXPECT_EQ(lines[0], "index,label,predicted,p_0,p_1,p_2,p_3,p_4,p_5,p_6,p_7,p_8,p_9");
  int right = 0;
  for (std::size_t i = 1; i < lines.size(); ++i) {
    int index = -1, label = -1, predicted = -1;
    ASSERT_EQ(std::sscanf(lines[i].c_str(), "%d,%d,%d", &index, &label, &predicted), 3) << lines[i];
    EXPECT_EQ(index, static_cast<int>(i) - 1);
    std::istringstream fields(lines[i]);
    std::vector<double> numbers;
    for (std::string field; std::getline(fields, field, ',');) numbers.push_back(std::stod(field));
    ASSERT_EQ(numbers.size(), 13u);
    EXPECT_EQ(*std::max_element(numbers.begin() + 3, numbers.end()), numbers[static_cast<std::size_t>(3 + predicted)]);
    EXPECT_NEAR(std::accumulate(numbers.begin() + 3, numbers.end(), 0.0), 1, 1e-4);
    right += label == predicted ? 1 : 0;
  }
  EXPECT_EQ(right / 32.0, summary["test_accuracy"].get<double>());

  const Outcome written = run({"predict", "--run", "r", "--checkpoint", "last", "--output", "p.csv"});
  EXPECT_EQ(written.code, 0) << written.err;
  EXPECT_EQ(read(folder() / "p.csv"), shown.out);
  expect_refused({"predict", "--run", "r", "--output", "p.csv"}, {"p.csv", "exists"});
}

TEST_F(Results, TheConfusionMatrixIsThatOfThePredictions) {
  const Words options =
      kSmall + Words{"--epochs", "2", "--oars", "4", "--test-samples", "150", "--evaluation-batch", "16"};
  const Json summary = trained(options + Words{"--run", "r"});
  const std::vector<Json> matrices = metrics(folder() / "r", "confusion");
  ASSERT_EQ(matrices.size(), 2u) << "one per epoch";
  std::vector<std::vector<int>> counts(10, std::vector<int>(10));
  const Outcome shown = run({"predict", "--run", "r", "--checkpoint", "last"});
  const std::vector<std::string> lines = lines_of(shown.out);
  for (std::size_t i = 1; i < lines.size(); ++i) {
    std::size_t label = 0, predicted = 0;
    ASSERT_EQ(std::sscanf(lines[i].c_str(), "%*d,%zu,%zu", &label, &predicted), 2) << lines[i];
    ++counts.at(label).at(predicted);
  }
  EXPECT_EQ(matrices[1]["counts"], Json(counts));
  EXPECT_EQ(matrices[1]["classes"].size(), 10u);
  EXPECT_EQ(matrices[1]["epoch"], 1);
  EXPECT_EQ(matrices[1]["step"], summary["steps"]);
  int right = 0;
  for (std::size_t k = 0; k < 10; ++k) right += counts[k][k];
  EXPECT_EQ(right / 150.0, summary["test_accuracy"].get<double>());

  // Three workers have parts of different sizes; with a validation share the test set is counted at the end.
  trained(options + Words{"--workers", "3", "--validation", "0%", "--run", "three"});
  EXPECT_EQ(metrics(folder() / "three", "confusion")[1]["counts"], Json(counts));
  trained(options + Words{"--validation", "25%", "--run", "validated"});
  const std::vector<Json> validated = metrics(folder() / "validated", "confusion");
  ASSERT_EQ(validated.size(), 3u);
  int samples[3] = {};
  for (std::size_t i = 0; i < 3; ++i)
    for (const Json& row : validated[i]["counts"])
      for (const Json& count : row) samples[i] += count.get<int>();
  EXPECT_EQ(samples[0], 16) << "of the validation share";
  EXPECT_EQ(samples[1], 16);
  EXPECT_EQ(samples[2], 150) << "of the test set";
  EXPECT_EQ(validated[1]["is_validation"], true);
  EXPECT_EQ(validated[2]["is_validation"], false);
}

TEST_F(Results, ThreadsAndTheirEnvironmentChangeNoBit) {
  const Words wanted = kSmall + Words{"--epochs", "2", "--oars", "4"};
  const Json one = trained(wanted + Words{"--threads", "1", "--run", "one"});
  for (const char* threads : {"2", "3", "4"}) {
    const Json more = trained(wanted + Words{"--threads", threads, "--run", std::string("r") + threads});
    EXPECT_EQ(more["weights_sha256"], one["weights_sha256"]) << threads << " threads";
    EXPECT_EQ(more["train_loss"], one["train_loss"]) << threads << " threads";
    EXPECT_EQ(more["test_loss"], one["test_loss"]) << threads << " threads";
  }
  for (const char* openmp : {"1", "2", "16"}) {
    const Outcome outcome = run(Words{"train"} + wanted + Words{"--json", "--run", std::string("omp") + openmp},
                                {std::string("OMP_NUM_THREADS=") + openmp, "DNNL_MAX_CPU_ISA=SSE41"});
    ASSERT_EQ(outcome.code, 0) << outcome.err;
    EXPECT_EQ(last_json(outcome)["weights_sha256"], one["weights_sha256"]) << "OMP_NUM_THREADS=" << openmp;
  }
}

TEST_F(Results, SeedAndOarsAreTheExperiment) {
  const Words wanted = kSmall + Words{"--epochs", "1"};
  const std::string first = trained(wanted + Words{"--run", "a"})["weights_sha256"];
  EXPECT_EQ(trained(wanted + Words{"--run", "b"})["weights_sha256"], first);
  EXPECT_NE(trained(wanted + Words{"--run", "c", "--seed", "2"})["weights_sha256"], first);
}

TEST_F(Results, AValidationShareIsKeptApart) {
  trained(kSmall + kEpochs + Words{"--validation", "25%", "--run", "r"});
  const Json resolved = Json::parse(read(folder() / "r/run.json"))["resolved"];
  const int kept = resolved["validation_samples"];
  EXPECT_EQ(kept, 16);
  EXPECT_EQ(resolved["train_samples"], 64 - kept);
  const auto epochs = metrics(folder() / "r", "epoch");
  ASSERT_EQ(epochs.size(), 3u);
  EXPECT_TRUE(epochs.back().contains("validation_accuracy"));
  EXPECT_FALSE(epochs.back().contains("test_accuracy")) << "the test set is for the end";
  const Json on_it = last_json(run({"eval", "--run", "r", "--checkpoint", "last", "--split", "validation", "--json"}));
  EXPECT_EQ(on_it["samples"], 16);
  EXPECT_EQ(on_it["accuracy"], epochs.back()["validation_accuracy"]);
  EXPECT_EQ(last_json(run({"eval", "--run", "r", "--split", "train", "--json"}))["samples"], 48);
}

TEST_F(Results, TheTableSaysWhichSetItShows) {
  const Outcome outcome = train({"--epochs", "1", "--validation", "25%", "--run", "r"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_NE(outcome.out.find("valid"), std::string::npos) << outcome.out;
}

TEST_F(Results, WithoutAValidationShareThereIsNoSuchSplit) {
  trained(kSmall + Words{"--epochs", "1", "--run", "r"});
  expect_refused({"eval", "--run", "r", "--split", "validation"}, {"r", "validation"});
}

TEST_F(Results, TheLastBatchIsKeptOrDropped) {
  const Words odd{"--model",        "lenet5", "--data",  "synthetic", "--train-samples", "50",
                  "--test-samples", "9",      "--batch", "16",        "--epochs",        "2"};
  EXPECT_EQ(trained(odd + Words{"--run", "keep"})["steps"], 8);
  EXPECT_EQ(trained(odd + Words{"--last-batch", "drop", "--run", "drop"})["steps"], 6);
}

TEST_F(Results, EarlyStoppingCountsEpochsWithoutABetterOne) {
  const Json summary = trained(kSmall + Words{"--epochs", "40", "--early-stopping", "2", "--run", "r"});
  EXPECT_EQ(summary["stopped_early"], true);
  const auto epochs = metrics(folder() / "r", "epoch");
  ASSERT_LT(epochs.size(), 40u);
  std::size_t best = 0;
  for (std::size_t i = 0; i < epochs.size(); ++i)
    if (epochs[i]["validation_accuracy"] > epochs[best]["validation_accuracy"]) best = i;
  EXPECT_EQ(epochs.size(), best + 1 + 2) << "two epochs after the best";
}

TEST_F(Results, QuietIsQuiet) {
  const Outcome outcome = train({"--epochs", "1", "--quiet", "--run", "r"});
  EXPECT_EQ(outcome.code, 0);
  EXPECT_EQ(outcome.out, "");
  EXPECT_EQ(outcome.err, "");
}

TEST_F(Results, AFolderIsNamedWhenNoneIsGiven) {
  for (const char* expected : {"runs/lenet5-synthetic-1", "runs/lenet5-synthetic-2"}) {
    EXPECT_EQ(trained(kSmall + Words{"--epochs", "1"})["run"], expected);
    EXPECT_TRUE(fs::exists(folder() / expected / "summary.json"));
  }
}

}  // namespace
}  // namespace trireme::cli_test
