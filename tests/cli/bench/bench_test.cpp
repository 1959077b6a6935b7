// `trireme bench`: what it prints for programs, and what it refuses. Times are never judged.
#include "base/system/beside_program.h"
#include "base/system/files.h"
#include "bench/peer/peer_ways.h"
#include "cli/program.h"
#include "support/mpirun.h"

namespace trireme::cli_test {
namespace {

class Bench : public Program {
 protected:
  Json results(const Words& arguments, const Words& environment = {}) const {
    const Outcome outcome = run(Words{"bench"} + arguments + Words{"--json"}, environment);
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    EXPECT_EQ(lines_of(outcome.out).size(), 1u) << "one JSON object";
    if (environment.empty()) {
      EXPECT_TRUE(snapshot().empty()) << "nothing is written";
    }
    return last_json(outcome);
  }
  // A made-up python whose step takes 8 s in nchw and 4 s in channels_last, and 3 or 5 MB; 2 s of each are updates.
  // With jemalloc it takes 1 s less, with bf16 2 s less; autocast and torch.compile cannot be had. $BLAS is its BLAS.
  Words fake_peer(const char* blas = "openblas") const {
    fs::create_directories(folder() / "bin");
    write(
        folder() / "bin/python",
        "#!/bin/sh\n"
        "test \"$1\" = -c && exit 0\n"
        "a=libc t=0\n"
        "case $LD_PRELOAD in *jemalloc*) a=jemalloc t=1;; *tcmalloc*) a=libc;; esac\n"
        "while read -r line; do case $line in\n"
        "  *prepare*) case $line in *channels_last*) s=4 m=5000000;; *) s=8 m=3000000;; esac\n"
        "    s=$((s - t))\n"
        "    case $line in *'\"bf16\"'*) s=$((s - 2));; esac\n"
        "    echo \"$line\" >> prepared\n"
        "    case $line in\n"
        "      *'\"compiled\":true'*) echo '{\"not_available\": \"no compiler\"}';;\n"
        "      *autocast*) echo no such type >&2; exit 1;;\n"
        "      *) echo \"{\\\"torch\\\": \\\"9.9\\\", \\\"blas\\\": \\\"$BLAS\\\", \\\"allocator\\\": \\\"$a\\\"}\";;\n"
        "    esac;;\n"
        "  *run*) echo \"{\\\"forward\\\": 1, \\\"backward\\\": 1, \\\"update\\\": 2, \\\"total\\\": $s}\";;\n"
        "  *memory*) echo \"{\\\"bytes\\\": $m}\";;\n"
        "  *tune*) echo '{\"optimizer\": \"foreach\"}';;\n"
        "esac; done\n");
    fs::permissions(folder() / "bin/python", fs::perms::owner_all);
    return {"TRIREME_PYTHON=" + (folder() / "bin/python").string(), std::string("BLAS=") + blas};
  }
  std::vector<std::string> prepared() const { return lines_of(read(folder() / "prepared")); }
};

const Words kSmallStep{"step", "--model", "lenet5", "--batch", "4", "--repeats", "1", "--peer", "pytorch"};

void expect_side(const Json& side) {
  for (const char* field : {"forward_ms", "backward_ms", "update_ms", "total_ms", "best_ms", "memory_mb"}) {
    ASSERT_TRUE(side.contains(field)) << field;
    EXPECT_GT(side[field].get<double>(), 0) << field;
  }
}

TEST_F(Bench, StepGivesTheDocumentedFields) {
  const Json json =
      results({"step", "--model", "lenet5", "--threads", "1,2", "--batch", "8", "--repeats", "1", "--reduce", "both"});
  ASSERT_EQ(json.at("results").size(), 2u);
  for (int i : {0, 1}) {
    const Json& one = json["results"][static_cast<std::size_t>(i)];
    EXPECT_EQ(one.at("model"), "lenet5");
    EXPECT_EQ(one.at("batch"), 8);
    EXPECT_EQ(one.at("threads"), i + 1);
    EXPECT_EQ(one.at("oars"), i + 1) << "as many as threads";
    EXPECT_EQ(one.at("reduce"), "exact");
    expect_side(one.at("ours"));
    EXPECT_EQ(one.at("ours_ms"), one["ours"]["total_ms"]);
    EXPECT_TRUE(one.contains("exact_cost_percent"));
    EXPECT_FALSE(one.contains("peer"));
    EXPECT_GT(one.at("speedup_same_oars").get<double>(), 0);
    EXPECT_GT(one.at("speedup_one_oar").get<double>(), 0);
  }
  EXPECT_EQ(json["results"][0]["speedup_same_oars"], 1.0) << "one thread is its own measure";
}

TEST_F(Bench, StepTakesNetworksOfFiles) {
  const test::TemporaryFolder files;
  Words names;
  for (const auto& [name, arguments] :
       {std::pair<const char*, Words>{"a.toml", {"lenet5"}},
        {"a.json", {"lenet5", "--format", "json"}},
        {"v.json", {"mlp", "--target", "values", "--classes", "2", "--input", "1x8", "--format", "json"}}}) {
    write(files.path() / name, run(Words{"model", "export"} + arguments).out);
    names.push_back((files.path() / name).string());
  }
  const Json json = results({"step", "--model", "lenet5," + names[0] + "," + names[1] + "," + names[2], "--batch", "8",
                             "--repeats", "1"})["results"];
  ASSERT_EQ(json.size(), 4u);
  for (std::size_t i = 1; i < 4; ++i) {
    EXPECT_EQ(json[i].at("model"), names[i - 1]);
    expect_side(json[i].at("ours"));
  }
  const Words peer = fake_peer();
  const auto step = [&](const std::string& file) {
    return Words{"bench", "step",   "--model", file,          "--batch", "4",     "--repeats",
                 "1",     "--peer", "pytorch", "--peer-ways", "plain",   "--json"};
  };
  ASSERT_EQ(run(step(names[1]), peer).code, 0);
  EXPECT_EQ(Json::parse(prepared().at(0)).at("network"), Json::parse(read(names[1])));
  expect_sentence(run(step(names[2]), peer), 2, {names[2], "squared_error"});
  expect_sentence(run({"bench", "train", "--model", names[1], "--world", "1", "--peer", "pytorch"}, peer), 2,
                  {names[1], "the zoo"});
  write(files.path() / "open.toml", "layers = [\"flatten\", \"dense:outputs=classes\"]\n");
  expect_sentence(run({"bench", "step", "--model", (files.path() / "open.toml").string()}), 2, {"open.toml", "shape"});
}

TEST_F(Bench, OarsAreNeverMoreThanSamples) {
  const Json json = results({"step", "--model", "lenet5", "--threads", "4", "--batch", "2", "--repeats", "1"});
  EXPECT_EQ(json.at("results").at(0).at("oars"), 2);
}

TEST_F(Bench, APeerIsAskedInBothLayoutsAndTheFasterCounts) {
  const Json json = results(kSmallStep + Words{"--peer-ways", "layout"}, fake_peer());
  const Json& one = json.at("results").at(0);
  EXPECT_EQ(prepared().size(), 2u);
  EXPECT_EQ(one.at("peer"), "pytorch");
  EXPECT_EQ(one.at("peer_version"), "9.9");
  EXPECT_TRUE(one.at("peer_way").get<std::string>().starts_with("channels_last, foreach SGD"));
  EXPECT_EQ(one.at("peer_ms"), 4000.0);
  EXPECT_EQ(one.at("theirs").at("update_ms"), 2000.0);
  EXPECT_EQ(one["theirs"].at("memory_mb"), 3.0) << "the layout that needs less";
  EXPECT_DOUBLE_EQ(one.at("ratio").get<double>(), 4000.0 / one.at("ours_ms").get<double>());
  EXPECT_DOUBLE_EQ(one.at("memory_ratio").get<double>(), 3.0 / one["ours"]["memory_mb"].get<double>());
  EXPECT_FALSE(one.contains("peer_bf16_ms"));
  const Json asked = Json::parse(prepared().at(0));
  EXPECT_EQ(asked.at("model"), "lenet5");
  EXPECT_EQ(asked.at("inputs"), Json::parse("[[3, 32, 32]]"));
  EXPECT_EQ(asked.at("classes"), 10);
  EXPECT_EQ(asked.at("batch"), 4);
}

TEST_F(Bench, TypesOfNumbersHaveColumnsOfTheirOwnAndWhatIsMissingHasAReason) {
  const Json json = results(kSmallStep + Words{"--peer-ways", "layout,in-place,compile,bf16"}, fake_peer());
  const Json& one = json.at("results").at(0);
  const double ours = one.at("ours_ms");
  EXPECT_EQ(one.at("peer_ms"), 4000.0) << "float32 alone";
  EXPECT_DOUBLE_EQ(one.at("ratio").get<double>(), 4000.0 / ours);
  EXPECT_EQ(one.at("peer_bf16_ms"), 2000.0);
  EXPECT_EQ(one.at("peer_bf16_way"), "channels_last, foreach SGD, BLAS openblas, bf16");
  EXPECT_EQ(one.at("theirs_bf16").at("total_ms"), 2000.0);
  EXPECT_DOUBLE_EQ(one.at("ratio_bf16").get<double>(), 2000.0 / ours);
  int missing = 0;
  for (const Json& way : one.at("peer_ways")) {
    const std::string text = way.at("way");
    EXPECT_EQ(way.contains("ms"), !way.contains("not_available")) << way.dump();
    if (text.find("torch.compile") != std::string::npos) {
      EXPECT_EQ(way.at("not_available"), "no compiler");
    }
    if (way.at("dtype") == "bf16-autocast") {
      EXPECT_NE(way.at("not_available").get<std::string>().find("no such type"), std::string::npos) << way.dump();
    }
    missing += way.contains("not_available") ? 1 : 0;
  }
  EXPECT_EQ(missing, 3) << "autocast in two layouts, and torch.compile, which is tried once: " << one.at("peer_ways");
  const Outcome printed = run(Words{"bench"} + kSmallStep + Words{"--peer-ways", "compile"}, fake_peer());
  EXPECT_NE(printed.out.find("torch.compile: not available: no compiler"), std::string::npos) << printed.out;
}

TEST_F(Bench, AnAllocatorBesideTheInterpreterIsPreloaded) {
  fs::create_directories(folder() / "lib");
  for (const char* library : {"libjemalloc.so.2", "libtcmalloc_minimal.so.4"}) write(folder() / "lib" / library, "");
  const Json json = results(kSmallStep + Words{"--peer-ways", "allocator"}, fake_peer());
  const Json& one = json.at("results").at(0);
  EXPECT_EQ(one.at("peer_way"), "nchw, foreach SGD, BLAS openblas, jemalloc");
  EXPECT_EQ(one.at("peer_ms"), 7000.0);
  ASSERT_EQ(one.at("peer_ways").size(), 3u);
  EXPECT_NE(one["peer_ways"][2].at("not_available").get<std::string>().find("libtcmalloc_minimal.so.4"),
            std::string::npos)
      << "a library that the process did not load";
}

TEST_F(Bench, TheReferenceBlasGetsNoRatioButARemedy) {
  const Words words = kSmallStep + Words{"--peer-ways", "bf16"};
  const Json json = results(words, fake_peer("reference"));
  const Json& one = json.at("results").at(0);
  EXPECT_EQ(one.at("peer_ms"), 8000.0);
  EXPECT_FALSE(one.contains("ratio") || one.contains("ratio_bf16")) << one.dump();
  EXPECT_NE(one.at("why_no_ratio").get<std::string>().find("apt install libopenblas0"), std::string::npos);
  const Outcome printed = run(Words{"bench"} + words, fake_peer("reference"));
  EXPECT_EQ(printed.code, 0);
  EXPECT_NE(printed.err.find("apt install libopenblas0"), std::string::npos) << printed.err;
  EXPECT_EQ(printed.out.find("x  nchw"), std::string::npos) << printed.out;
}

TEST(TryInTurns, MediansOfRoundsInTurns) {
  std::string order;
  std::vector<int> asked;
  // The first one was held up once, and the other was lucky once.
  const auto pair = bench::try_in_turns(
      [&, rounds = std::vector{0.9, 0.010, 0.011}](int steps) mutable {
        order += "a";
        asked.push_back(steps);
        const double seconds = rounds.front();
        rounds.erase(rounds.begin());
        return seconds;
      },
      [&, rounds = std::vector{0.012, 0.001, 0.013}](int) mutable {
        order += "b";
        const double seconds = rounds.front();
        rounds.erase(rounds.begin());
        return seconds;
      },
      0.01);
  EXPECT_EQ(order, "ababab");
  EXPECT_EQ(pair, std::pair(0.011, 0.012));
  EXPECT_GE(asked.at(0), 10) << "steps of milliseconds scatter";
  const auto counted = [&](int steps) {
    asked.push_back(steps);
    return 5.0;
  };
  asked.clear();
  bench::try_in_turns(counted, counted, 5);
  EXPECT_EQ(asked, (std::vector{1, 1})) << "long ones are steady";
}

TEST_F(Bench, ASpectrumHasOneLayout) {
  results({"step", "--model", "redshift-cnn", "--batch", "2", "--repeats", "1", "--peer", "pytorch"}, fake_peer());
  EXPECT_GE(prepared().size(), 4u);
  EXPECT_EQ(read(folder() / "prepared").find("channels_last"), std::string::npos);
}

TEST_F(Bench, APeerThatDiesEndsTheRunWithItsWords) {
  const Words environment = fake_peer();
  write(folder() / "bin/python", "#!/bin/sh\ntest \"$1\" = -c && exit 0\necho broken torch >&2\nexit 1\n");
  const Outcome outcome = run({"bench", "step", "--model", "lenet5", "--peer", "pytorch"}, environment);
  expect_sentence(outcome, 1, {"PyTorch", "broken torch"});
}

TEST_F(Bench, ProfileAddsUpToTheStep) {
  const Json json = results({"step", "--model", "lenet5", "--batch", "8", "--repeats", "1", "--profile"});
  const Json& profile = json.at("results").at(0).at("profile");
  double sum = 0, share = 0;
  bool conv_forward = false, conv_backward = false, update = false;
  for (const Json& row : profile.at("kinds")) {
    sum += row.at("ms_per_step").get<double>();
    share += row.at("share").get<double>();
    conv_forward |= row.at("kind") == "conv" && row.at("phase") == "forward";
    conv_backward |= row.at("kind") == "conv" && row.at("phase") == "backward";
    update |= row.at("kind") == "update";
    for (const char* field : {"calls_per_step", "gflops", "gbytes_per_second", "roofline"})
      EXPECT_TRUE(row.contains(field)) << field;
  }
  EXPECT_TRUE(conv_forward && conv_backward && update);
  EXPECT_NEAR(sum, profile.at("ms_per_step").get<double>(), 1e-3 * sum);
  EXPECT_NEAR(share, 1, 1e-3);
  EXPECT_GE(profile.at("layers").size(), 20u);
}

TEST_F(Bench, TrainKeepsItsProfile) {
  const Outcome outcome = train({"--profile", "--run", "r"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_NE(outcome.out.find("by kind of op"), std::string::npos);
  const Json profile = Json::parse(read(folder() / "r/profile.json"));
  EXPECT_EQ(profile.at("steps"), 4);
  EXPECT_FALSE(profile.at("kinds").empty());
  ASSERT_EQ(train({"--run", "s"}).code, 0);
  EXPECT_FALSE(fs::exists(folder() / "s/profile.json"));
}

TEST_F(Bench, ATunedTableIsWrittenOnceAndUsed) {
  const Words tune{"bench", "step", "--model", "lenet5", "--batch", "4", "--tune", "my.table"};
  const Outcome outcome = run(tune);
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_NE(outcome.out.find("conv 3x32x32 to 6"), std::string::npos) << outcome.out;
  const std::string table = read(folder() / "my.table");
  std::size_t rows = 0;
  for (const std::string& line : lines_of(table)) rows += line.starts_with("#") ? 0 : 1;
  EXPECT_EQ(rows, 2u) << table;
  expect_refused(tune, {"my.table", "exists"});
  expect_refused({"bench", "step", "--model", "lenet5", "--tune", "nowhere/my.table"}, {"no folder", "nowhere"});

  ASSERT_EQ(train({"--run", "with", "--kernel-table", "my.table"}).code, 0);
  ASSERT_EQ(train({"--run", "without"}).code, 0);
  const auto used = [&](const char* run) { return Json::parse(read(folder() / run / "run.json")).at("kernel_table"); };
  EXPECT_EQ(used("with").at("rows"), 2);
  EXPECT_EQ(used("without").at("rows"), 0);
  EXPECT_NE(used("with").at("sha256"), used("without").at("sha256"));
  expect_refused({"train", "--model", "lenet5", "--data", "synthetic", "--kernel-table", "other.table"},
                 {"other.table"});
}

TEST_F(Bench, RooflineGivesPeaksAndFloors) {
  const Json json = results({"roofline", "--model", "lenet5", "--batch", "4", "--threads", "2", "--repeats", "1"});
  ASSERT_EQ(json.at("peaks").size(), 2u) << "1 thread and 2";
  for (const Json& peak : json["peaks"])
    for (const char* field : {"gflops", "copy_gbytes_per_second", "triad_gbytes_per_second"})
      EXPECT_GT(peak.at(field).get<double>(), 0);
  const Json& one = json.at("results").at(0);
  for (const char* field : {"gflop", "gbytes", "least_flops_ms", "least_bytes_ms", "least_ms", "ours_ms", "percent"})
    EXPECT_GT(one.at(field).get<double>(), 0) << field;
  EXPECT_GE(one["least_ms"].get<double>() * 1.001,
            std::max(one["least_flops_ms"].get<double>(), one["least_bytes_ms"].get<double>()));
}

TEST_F(Bench, CollectivesBetweenProcesses) {
  const Json json = results({"collective", "--world", "1,3", "--transport", "shm,tcp", "--algorithm", "auto,ring",
                             "--bytes", "0,400000", "--repeats", "1"});
  ASSERT_EQ(json.at("results").size(), 16u);
  for (const Json& one : json["results"]) EXPECT_GT(one.at("ours_us").get<double>(), 0) << one.dump();
}

TEST_F(Bench, ExactCollectivesIdleGroupsAndAPlot) {
  const test::TemporaryFolder drawings;
  const fs::path plot = drawings.path() / "bandwidth.svg";
  const Json json =
      results({"collective", "--world", "2", "--algorithm", "exact,hierarchical,whole", "--partials", "2", "--bytes",
               "4000,400000", "--repeats", "1", "--idle-seconds", "0.1", "--plot", plot.string()});
  ASSERT_EQ(json.at("results").size(), 6u);
  for (const Json& one : json["results"]) {
    EXPECT_EQ(one.contains("times_float32"), one.at("algorithm") == "exact");
    EXPECT_GE(one.at("idle_percent").get<double>(), 0);
    EXPECT_GT(one.at("cpu_seconds_per_gbyte").get<double>(), 0);
  }
  const std::string drawn = base::read_text(plot);
  EXPECT_TRUE(drawn.starts_with("<svg")) << drawn;
  for (const char* name : {"2 ranks, shm, exact", "2 ranks, shm, whole", "bus bandwidth"})
    EXPECT_NE(drawn.find(name), std::string::npos) << name;
  expect_refused({"bench", "collective", "--plot", plot.string()}, {"bandwidth.svg", "exists already"});
  expect_refused({"bench", "collective", "--plot", "bandwidth.png"}, {".svg"});
  expect_refused({"bench", "collective", "--idle-seconds", "-1"}, {"--idle-seconds"});
  expect_refused({"bench", "collective", "--partials", "0"}, {"--partials"});
}

TEST_F(Bench, CollectivesOverMpi) {
  if (base::find_beside_program("trireme_mpi.so").empty())
    GTEST_SKIP() << "built without Open MPI (libopenmpi-dev): there is no transport mpi";
  const Json json = results(
      {"collective", "--world", "1,3", "--transport", "mpi", "--bytes", "0,400000", "--peer", "mpi", "--repeats", "1"},
      test::mpirun_environment());
  ASSERT_EQ(json.at("results").size(), 4u);
  for (const Json& one : json["results"]) {
    EXPECT_EQ(one.at("peer"), "mpi");
    EXPECT_GT(one.at("ours_us").get<double>(), 0) << one.dump();
    EXPECT_GT(one.at("peer_us").get<double>(), 0) << one.dump();
  }
}

// A copy of the program that has no module beside it.
TEST_F(Bench, AMissingMpiIsNamed) {
  const fs::path alone = folder() / "bin" / "trireme";
  fs::create_directories(alone.parent_path());
  fs::copy_file(test::trireme_binary(), alone);
  for (const Words& words : {Words{"--transport", "mpi"}, Words{"--peer", "mpi"}}) {
    const auto finished = test::run_process(Words{alone.string(), "bench", "collective"} + words);
    expect_sentence({finished.exit_code, finished.out, finished.err}, 2, {"no transport mpi", "libopenmpi-dev"});
  }
}

TEST_F(Bench, TrainGivesTheParts) {
  const Json json = last_json(run({"bench", "train", "--model", "lenet5", "--world", "1", "--batch", "4", "--repeats",
                                   "1", "--plot", "steps.svg", "--json"}));
  ASSERT_EQ(json.at("results").size(), 1u);
  const Json& one = json["results"][0];
  EXPECT_EQ(one.at("world"), 1);
  EXPECT_EQ(one.at("batch"), 4);
  double sum = 0;
  for (const char* part : {"load_ms", "forward_ms", "backward_ms", "network_ms", "update_ms", "rest_ms"})
    sum += one.at("ours").at(part).get<double>();
  EXPECT_NEAR(sum, one.at("ours_ms").get<double>(), 0.05 * sum);
  EXPECT_FALSE(one.contains("ratio"));
  const std::string picture = read(folder() / "steps.svg");
  for (const char* text : {"lenet5, 1 x 1", "backward", "Trireme"})
    EXPECT_NE(picture.find(text), std::string::npos) << text;
}

TEST_F(Bench, TrainAlsoTakesItsOwnNumberOfOars) {
  const auto oars = [&](const Words& more) {
    const Json json = results(
        Words{"train", "--model", "lenet5", "--world", "1", "--batch", "32", "--repeats", "1"} + more, {"NOTHING=1"});
    std::vector<int> numbers;
    for (const Json& one : json.at("results")) {
      numbers.push_back(one.at("oars"));
      EXPECT_GT(one.at("ours_ms").get<double>(), 0);
    }
    return numbers;
  };
  EXPECT_EQ(oars({}), (std::vector{1, 4})) << "one thread's, and batch / 8";
  EXPECT_EQ(oars({"--oars", "2"}), std::vector{2});
}

TEST_F(Bench, MemoryIsAboveWhatTheParametersTake) {
  const Json json = results({"memory", "--model", "mnist-cnn", "--batch", "2"});
  // Weights, gradients, momentum: three times 1 199 882 floats.
  EXPECT_GT(json.at("results").at(0).at("memory_bytes").get<double>(), 3 * 1199882 * 4.0);
}

TEST_F(Bench, MistakesAreRefused) {
  expect_refused({"bench"}, {"step, train, input, collective, roofline or memory"});
  expect_refused({"bench", "stpe"}, {"'stpe'", "'step'"});
  expect_refused({"bench", "step", "--model", "lenet6"}, {"'lenet6'", "'lenet5'"});
  expect_refused({"bench", "step", "--model", "lenet5,"}, {"''"});
  expect_refused({"bench", "step", "--threads", "two"}, {"--threads", "'two'"});
  expect_refused({"bench", "step", "--threads", "0"}, {"--threads", "1 ... 4096"});
  expect_refused({"bench", "step", "--model", "lenet5", "--oars", "43"}, {"43 oars", "42 samples"});
  expect_refused({"bench", "step", "--reduce", "exakt"}, {"--reduce", "'exact'"});
  expect_refused({"bench", "step", "--repeats", "0"}, {"--repeats"});
  expect_refused({"bench", "step", "--isa", "mmx"}, {"mmx"});
  expect_refused({"bench", "step", "--peer", "torch"}, {"--peer", "pytorch"});
  for (const char* word : {"step", "train", "input"})
    expect_refused({"bench", word, "--world", "1", "--peer-ways", "compil"}, {"--peer-ways", "'compil'", "compile"});
  expect_refused({"bench", "step", "--peer", "pytorch", "--python", "/no/python"}, {"--python", "/no/python"});
  expect_refused({"bench", "step", "--peer", "pytorch", "--python", "false"}, {"--python", "'false'", "torch"});
  expect_refused({"bench", "collective", "--world", "0"}, {"--world", "1 to 64"});
  expect_refused({"bench", "collective", "--bytes", "7"}, {"--bytes", "multiple of 4"});
  expect_refused({"bench", "collective", "--transport", "smoke"}, {"--transport", "'smoke'", "shm, tcp, tls or mpi"});
  expect_refused({"bench", "collective", "--algorithm", "rings"}, {"'rings'", "ring"});
  expect_refused({"bench", "collective", "--peer", "pytorch"}, {"--peer", "gloo", "mpi"});
  expect_refused({"bench", "train", "--world", "0"}, {"--world"});
  expect_refused({"bench", "train", "--world", "4000"}, {"4000 processes", "cores"});
  expect_refused({"bench", "train", "--reduce", "both", "--world", "1"}, {"--reduce"});
  expect_refused({"bench", "train", "--world", "1", "--peer", "pytorch", "--python", "/no/python"}, {"python3-torch"});
  expect_refused({"bench", "train", "--world", "1", "--plot", "steps.png"}, {".svg"});
  expect_refused({"bench", "memory", "--model", "lenet5,alexnet"}, {"one --model"});
  expect_refused({"bench", "step", "--modle", "lenet5"}, {"--modle", "--model"});
}

}  // namespace
}  // namespace trireme::cli_test
