// What runs tell about their weights, and reports of them: --watch-layers, --hash-every, trireme report.
#include "cli/program.h"

namespace trireme::cli_test {
namespace {

class Watching : public Program {
 protected:
  std::vector<Json> lines(const std::string& name, const std::string& type) const {
    std::vector<Json> all;
    for (const std::string& line : lines_of(read(folder() / name / "metrics.jsonl")))
      if (Json json = Json::parse(line); json["type"] == type) all.push_back(std::move(json));
    return all;
  }
};

TEST_F(Watching, LayersAndHashesChangeNoBitUnderAnyStrategy) {
  const Words steady = kSteady + Words{"--epochs", "2", "--oars", "4", "--threads", "1"};
  const Json alone = trained(steady + Words{"--run", "alone"});
  struct Case {
    const char* name;
    Words options;
  };
  for (const Case& one : {Case{"single", {}}, Case{"owned", {"--workers", "2"}},
                          Case{"whole", {"--workers", "2", "--strategy", "allreduce:algorithm=direct"}},
                          Case{"ps", {"--workers", "2", "--strategy", "ps:mode=sync", "--servers", "2"}},
                          Case{"gradients", {"--workers", "2", "--strategy", "ps:mode=sync,return=gradients"}}}) {
    SCOPED_TRACE(one.name);
    const Json watched =
        trained(steady + one.options + Words{"--watch-layers", "3", "--hash-every", "2", "--run", one.name});
    EXPECT_EQ(watched["weights_sha256"], alone["weights_sha256"]);
    const std::vector<Json> hashes = lines(one.name, "hash"), layers = lines(one.name, "layers");
    ASSERT_EQ(hashes.size(), 4u) << "of steps 2, 4, 6 and 8";
    EXPECT_EQ(hashes[3]["weights_sha256"], alone["weights_sha256"]);
    ASSERT_EQ(layers.size(), 2u) << "of steps 3 and 6";
    EXPECT_EQ(layers[0]["step"], 3);
    for (std::size_t i = 0; i < 2; ++i) {
      // All strategies compute the same gradients, so the numbers are the same, whoever made which update.
      const Json expected = one.name == std::string("single") ? layers[i] : lines("single", "layers").at(i);
      EXPECT_EQ(layers[i]["parameters"], expected["parameters"]);
    }
    const Json& first = layers[0]["parameters"][0];
    EXPECT_GT(first["weights"].get<double>(), 0);
    EXPECT_GT(first["gradients"].get<double>(), 0);
    EXPECT_GT(first["updates"].get<double>(), 0);
    EXPECT_EQ(first["gradient_histogram"]["counts"].size(), 30u);
    std::int64_t values = 0;
    for (const Json& count : first["weight_histogram"]["counts"]) values += count.get<std::int64_t>();
    EXPECT_EQ(values, first["elements"].get<std::int64_t>());
  }
}

TEST_F(Watching, PlainGradientDescentUpdatesByTheGradient) {
  trained(kSteady + Words{"--steps", "4", "--optimizer", "sgd:lr=0.5", "--watch-layers", "4", "--run", "r"});
  const std::vector<Json> layers = lines("r", "layers");
  ASSERT_EQ(layers.size(), 1u);
  for (const Json& layer : layers[0]["parameters"])
    EXPECT_NEAR(layer["updates"].get<double>(), 0.5 * layer["gradients"].get<double>(),
                1e-4 * layer["gradients"].get<double>() + 1e-6)
        << layer["name"];
}

TEST_F(Watching, StrategiesWithoutCommonStepsTellWhatTheyKnow) {
  const Words options = kSteady + Words{"--epochs", "2", "--oars", "4", "--workers", "2", "--watch-layers", "3"};
  trained(options + Words{"--strategy", "ps:mode=async", "--run", "async"});
  const std::vector<Json> async = lines("async", "layers");
  ASSERT_EQ(async.size(), 2u) << "when the epochs end";
  EXPECT_EQ(async[1]["step"], 8);
  EXPECT_GT(async[1]["parameters"][0]["gradients"].get<double>(), 0) << "of the last push";
  const Json plain = trained(kSteady + Words{"--epochs", "2", "--oars", "4", "--workers", "2", "--strategy",
                                             "local:every=3", "--run", "plain"});
  const Json local = trained(options + Words{"--hash-every", "1", "--strategy", "local:every=3", "--run", "local"});
  EXPECT_EQ(local["weights_sha256"], plain["weights_sha256"]) << "replicas are averaged at the same steps";
  EXPECT_TRUE(lines("local", "layers").at(0)["parameters"][0]["gradients"].is_null());
  EXPECT_EQ(lines("local", "hash").size(), 2u);
}

TEST_F(Watching, TheFirstStepThatDiffersIsFound) {
  trained(kSteady + Words{"--steps", "8", "--hash-every", "2", "--optimizer", "sgd:lr=0.1", "--run", "a"});
  trained(kSteady + Words{"--steps", "8", "--hash-every", "1", "--optimizer", "sgd:lr=0.1", "--schedule", "step:1=0.01",
                          "--run", "b"});  // differs from step 5 on, in the second epoch
  const Json found = last_json(run({"diff", "a", "b", "--json"}));
  EXPECT_EQ(found["common_hashes"], 4);
  EXPECT_EQ(found["first_different_hash"], 6);
  EXPECT_EQ(found["last_equal_hash"], 4);
  EXPECT_NE(run({"diff", "a", "b"}).out.find("weights: different at step 6, the same at step 4"), std::string::npos);
}

TEST_F(Watching, AResumedRunHasEachLineOnce) {
  const Words options = kSteady + Words{"--hash-every", "2", "--watch-layers", "4"};
  const Json whole = trained(options + Words{"--epochs", "3", "--run", "whole"});
  trained(options + Words{"--steps", "6", "--run", "parts"});
  const Outcome outcome = run({"train", "--resume", "parts", "--epochs", "3", "--json"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(last_json(outcome)["weights_sha256"], whole["weights_sha256"]);
  for (const char* type : {"hash", "layers"}) {
    const std::vector<Json> once = lines("whole", type), parts = lines("parts", type);
    ASSERT_EQ(parts.size(), once.size()) << type;
    for (std::size_t i = 0; i < once.size(); ++i) {
      Json left = once[i], right = parts[i];
      left.erase("time");
      right.erase("time");
      EXPECT_EQ(left, right);
    }
  }
  EXPECT_EQ(lines("parts", "resumed").at(0)["step"], 6);
}

TEST_F(Watching, ReportsAreWholePages) {
  trained(kSmall + Words{"--epochs", "2", "--oars", "4", "--threads", "1", "--run", "runs/one"});
  trained(kSmall + Words{"--epochs", "2", "--oars", "4", "--threads", "1", "--workers", "2", "--run", "runs/two"});
  trained(kSmall + Words{"--epochs", "1", "--oars", "4", "--workers", "2", "--strategy", "ps:mode=async", "--run",
                         "runs/<async> & more"});
  trained(kSmall + Words{"--steps", "6", "--run", "runs/resumed"});
  EXPECT_EQ(run({"train", "--resume", "runs/resumed", "--steps", "8"}).code, 0);
  // One that was killed, with a damaged line; one of an older version; one with nothing but its description.
  trained(kSmall + Words{"--epochs", "2", "--run", "runs/killed"});
  fs::remove(folder() / "runs/killed/summary.json");
  write(folder() / "runs/killed/metrics.jsonl", read(folder() / "runs/killed/metrics.jsonl") + "{\"type\":\"st");
  write(folder() / "runs/killed/resources.jsonl", "{\"host\": 5}\n\xff\n");
  trained(kSmall + Words{"--epochs", "1", "--workers", "2", "--run", "runs/old"});
  std::string old;
  for (const std::string& line : lines_of(read(folder() / "runs/old/metrics.jsonl"))) {
    Json json = Json::parse(line);
    json.erase("time");
    if (json["type"] == "step" || json["type"] == "epoch")
      old += R"({"type":)" + json["type"].dump() + "," + json.dump().substr(1) + "\n";
  }
  write(folder() / "runs/old/metrics.jsonl", old);
  for (const char* file : {"metrics.jsonl", "summary.json", "resources.jsonl"}) {
    fs::create_directories(folder() / "runs/bare");
    fs::remove(folder() / "runs/bare" / file);
  }
  fs::copy_file(folder() / "runs/one/run.json", folder() / "runs/bare/run.json");

  const Outcome outcome = run({"report", "runs", "-o", "report.html"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const std::string page = read(folder() / "report.html");
  EXPECT_TRUE(page.starts_with("<!DOCTYPE html>"));
  EXPECT_TRUE(page.ends_with("</html>\n"));
  for (const char* heading : {"Results", "Curves", "Where the time went", "Speed-up over workers", "What differs",
                              "Confusion matrix", "Staleness", "resumed", "interrupted", "&lt;async&gt; &amp; more"})
    EXPECT_NE(page.find(heading), std::string::npos) << heading;
  // It asks nothing of anybody: no script, and no address but the name of SVG.
  EXPECT_EQ(page.find("<script"), std::string::npos);
  EXPECT_EQ(page.find("<async>"), std::string::npos);
  for (std::size_t at = page.find("http"); at != std::string::npos; at = page.find("http", at + 1))
    EXPECT_TRUE(page.substr(at).starts_with("http://www.w3.org/2000/svg") || page.substr(at).starts_with("http-equiv"))
        << page.substr(at, 60);
  expect_refused({"report", "runs", "-o", "report.html"}, {"report.html", "exists"});
  expect_refused({"report", "runs", "--to", "report.pdf"}, {".html"});
  expect_refused({"report"}, {"which runs"});
}

TEST_F(Watching, CurvesAreDrawnAsAPageToo) {
  trained(kSmall + Words{"--epochs", "2", "--run", "a"});
  const Outcome outcome = run({"plot", "a", "-o", "curves.html"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const std::string page = read(folder() / "curves.html");
  EXPECT_TRUE(page.starts_with("<!DOCTYPE html>"));
  EXPECT_NE(page.find("<svg "), std::string::npos);
}

}  // namespace
}  // namespace trireme::cli_test
