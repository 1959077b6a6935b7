// Networks of files in the program: trained by every strategy, resumed and evaluated from the run folder alone.
#include "cli/program.h"

namespace trireme::cli_test {
namespace {

class ModelFiles : public Program {};

TEST_F(ModelFiles, AZooNetworkFromItsExportHasTheSameBits) {
  const Outcome exported = run({"model", "export", "lenet5"});
  ASSERT_EQ(exported.code, 0) << exported.err;
  write(folder() / "mine.toml", exported.out);
  const Outcome described = run({"model", "export", "lenet5", "--format", "json"});
  write(folder() / "mine.json", described.out);
  const Words rest{"--steps",        "3",  "--data",  "synthetic", "--train-samples", "64",
                   "--test-samples", "32", "--batch", "16",        "--json"};
  const Json by_name = last_json(run(Words{"train", "--model", "lenet5", "--run", "a"} + rest));
  const Json by_toml = last_json(run(Words{"train", "--model", "mine.toml", "--run", "b"} + rest));
  const Json by_json = last_json(run(Words{"train", "--model", "mine.json", "--run", "c"} + rest));
  EXPECT_EQ(by_name["weights_sha256"], by_toml["weights_sha256"]);
  EXPECT_EQ(by_name["weights_sha256"], by_json["weights_sha256"]);
  EXPECT_EQ(read(folder() / "a/network.json"), read(folder() / "b/network.json"));
}

TEST_F(ModelFiles, TheDocumentedNetworkTrainsResumesAndIsEvaluatedWithoutItsFile) {
  write(folder() / "two.toml", documented_network());
  const Words small{"--model",        "two.toml", "--data",  "synthetic", "--train-samples", "64",
                    "--test-samples", "32",       "--batch", "16",        "--oars",          "4"};
  const Json whole = last_json(
      run(Words{"train", "--epochs", "2", "--schedule", "constant", "--run", "whole"} + small + Words{"--json"}));
  for (const char* strategy : {"allreduce", "ps:mode=sync"}) {
    fs::remove_all(folder() / "r");
    const Words several{"--workers", "3", "--strategy", strategy, "--schedule", "constant", "--run", "r"};
    ASSERT_EQ(run(Words{"train", "--epochs", "1"} + small + several).code, 0) << strategy;
    fs::rename(folder() / "two.toml", folder() / "elsewhere.toml");
    const Outcome resumed = run({"train", "--resume", "r", "--epochs", "2", "--json"});
    ASSERT_EQ(resumed.code, 0) << strategy << resumed.err;
    EXPECT_EQ(last_json(resumed)["weights_sha256"], whole["weights_sha256"]) << strategy;
    EXPECT_EQ(run({"eval", "--run", "r"}).code, 0);
    fs::rename(folder() / "elsewhere.toml", folder() / "two.toml");
  }
  for (const char* strategy :
       {"ps:mode=async", "ps:mode=ssp,staleness=2", "ps:mode=dssp", "local", "groups:count=1", "switch:at=50%"}) {
    fs::remove_all(folder() / "r");
    const Outcome outcome =
        run(Words{"train", "--epochs", "2"} + small + Words{"--workers", "3", "--strategy", strategy, "--run", "r"});
    EXPECT_EQ(outcome.code, 0) << strategy << outcome.err;
  }
}

TEST_F(ModelFiles, AChangedNetworkOfARunIsRefused) {
  trained(kSmall + Words{"--epochs", "1", "--run", "r"});
  std::string text = read(folder() / "r/network.json");
  text.replace(text.find("\"channels\":16"), 13, "\"channels\":17");
  write(folder() / "r/network.json", text);
  expect_refused({"train", "--resume", "r", "--epochs", "2"}, {"network.json", "was changed"});
  expect_refused({"eval", "--run", "r"}, {"network.json", "was changed"});
}

// As written by programs that did not store the network.
TEST_F(ModelFiles, ARunWithoutADescriptionGoesOnByName) {
  const Json whole = trained(kSteady + Words{"--epochs", "2", "--run", "whole"});
  trained(kSteady + Words{"--epochs", "1", "--run", "r"});
  fs::remove(folder() / "r/network.json");
  expect_refused({"eval", "--run", "r"}, {"network.json"});
  Json run_json = Json::parse(read(folder() / "r/run.json"));
  run_json.erase("network_sha256");
  run_json.erase("checksum");
  write(folder() / "r/run.json", run_json.dump());
  EXPECT_EQ(trained({"--resume", "r", "--epochs", "2"})["weights_sha256"], whole["weights_sha256"]);
}

TEST_F(ModelFiles, ShowsLayersAndDrawsThem) {
  const Outcome shown = run({"model", "show", "resnet20-cifar", "--dot", "graph.dot"});
  ASSERT_EQ(shown.code, 0) << shown.err;
  for (const char* part : {"conv1", "16x32x32", "conv:channels=16,kernel=3", "432", "272474 parameters"})
    EXPECT_NE(shown.out.find(part), std::string::npos) << part << "\n" << shown.out;
  EXPECT_NE(read(folder() / "graph.dot").find("digraph \"resnet20-cifar\""), std::string::npos);
  expect_refused({"model", "show", "resnet20-cifar", "--dot", "graph.dot"}, {"exists already"});
  if (run({"model", "show", "lenet5", "--svg", "graph.svg"}).code == 0) {  // with Graphviz
    const std::string svg = read(folder() / "graph.svg");
    EXPECT_NE(svg.find("conv:channels=6"), std::string::npos) << svg;
    EXPECT_NE(svg.find("</svg>"), std::string::npos);
  }
  const auto before = snapshot();
  expect_sentence(run({"model", "show", "lenet5", "--dot", "no.dot", "--svg", "no.svg"}, {"PATH=/nowhere"}), 2,
                  {"Graphviz", "--dot"});
  EXPECT_EQ(snapshot(), before);
  expect_refused({"model", "show", "resnet21-cifar"}, {"resnet21-cifar", "resnet20-cifar"});
  expect_refused({"model", "show"}, {"which network"});
  expect_refused({"model"}, {"what to do"});
  expect_refused({"model", "shw", "lenet5"}, {"shw", "show"});
  expect_refused({"model", "show", "lenet5", "--input", "3x4x4"}, {"lenet5", "conv"});
  expect_refused({"model", "show", "absent.toml"}, {"absent.toml"});
  expect_refused({"train", "--model", "absent.json"}, {"absent.json"});
  expect_refused({"train", "--model", "./network"}, {"./network"});
}

}  // namespace
}  // namespace trireme::cli_test
