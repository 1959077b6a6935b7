// The command line itself: help, version, lists, and what was typed wrongly.
#include "cli/program.h"
#include "data/open_data.h"
#include "models/zoo.h"
#include "optim/optimizer.h"
#include "support/core_errors.h"
#include "train/builtin_registry.h"
#include "train/experiment/options.h"
#include "train/experiment/registry.h"

namespace trireme::cli_test {
namespace {

using support::contains;

const train::Registry kBuiltin = train::builtin_registry();

using Usage = Program;

TEST_F(Usage, HelpNamesEveryVerbAndVersionIsOneLine) {
  for (const Words& words : {Words{"--help"}, Words{}}) {
    const Outcome help = run(words);
    EXPECT_EQ(help.code, 0);
    EXPECT_EQ(help.err, "");
    for (const char* verb : {"train", "eval", "predict", "bench", "list"})
      EXPECT_TRUE(contains(help.out, verb)) << verb;
  }
  const Outcome version = run({"--version"});
  EXPECT_EQ(version.code, 0);
  EXPECT_EQ(lines_of(version.out).size(), 1u);
  EXPECT_TRUE(version.out.starts_with("trireme ")) << version.out;
  EXPECT_TRUE(snapshot().empty());
}

TEST_F(Usage, EveryVerbHasHelpAndTrainsNamesEveryOption) {
  for (const char* verb : {"train", "eval", "predict", "bench", "list"}) {
    const Outcome help = run({verb, "--help"});
    EXPECT_EQ(help.code, 0) << verb;
    EXPECT_TRUE(contains(help.out, "Example")) << help.out;
  }
  const std::string help = run({"train", "--help"}).out;
  for (const base::OptionSpec& option : train::train_options()) {
    EXPECT_TRUE(contains(help, std::string("--") + option.name)) << option.name;
    EXPECT_TRUE(contains(help, option.help)) << option.name;
  }
}

TEST_F(Usage, ListsGiveWhatThePartsKnow) {
  const std::string models = run({"list", "models"}).out;
  for (const auto& model : kBuiltin.models.rows()) EXPECT_TRUE(contains(models, model.name)) << model.name;
  EXPECT_TRUE(contains(models, "57044810")) << "AlexNet's parameters";
  const std::string ops = run({"list", "ops"}).out;
  for (const ops::OpRow& row : kBuiltin.ops.rows()) {
    EXPECT_TRUE(contains(ops, row.name + " ")) << row.name;
    EXPECT_TRUE(contains(ops, row.summary)) << row.name;
    for (const base::SpecOption& option : row.options)
      EXPECT_TRUE(contains(ops, option.key + "=" + option.values)) << row.name << " " << option.key;
  }
  const std::string datasets = run({"list", "datasets"}).out;
  for (const auto& codec : kBuiltin.readers.codecs.rows()) EXPECT_TRUE(contains(datasets, codec.ending)) << codec.name;
  for (const auto& dataset : kBuiltin.readers.datasets.rows())
    EXPECT_TRUE(contains(datasets, dataset.name)) << dataset.name;
  const std::string optimizers = run({"list", "optimizers"}).out;
  for (const auto& optimizer : kBuiltin.optimizers.rows())
    EXPECT_TRUE(contains(optimizers, optim::make_optimizer(optimizer.name)->text()));
  EXPECT_TRUE(contains(optimizers, "onecycle"));
  const std::string sinks = run({"list", "sinks"}).out;
  for (const auto& sink : kBuiltin.sinks.rows()) EXPECT_TRUE(contains(sinks, sink.name)) << sink.name;
  const Outcome strategies = run({"list", "strategies"});
  EXPECT_EQ(strategies.code, 0);
  EXPECT_FALSE(strategies.out.empty());
}

TEST_F(Usage, TransportsAreListedAndInTheHelp) {
  EXPECT_EQ(run({"list", "transports"}).out,
            "auto     shared memory between processes of one host, TCP between hosts, MPI under mpirun\n"
            "tcp      TCP everywhere, also on one host; encrypted with --tls\n"
            "mpi      what mpirun offers, for networks that only MPI reaches\n");
  const std::string train = run({"train", "--help"}).out, bench = run({"bench", "--help"}).out;
  EXPECT_TRUE(contains(train, "(trireme list transports): auto, tcp or mpi\n")) << train;
  EXPECT_TRUE(contains(bench, "shm or tcp (train), shm, tcp, tls or mpi (collective) (default shm)\n")) << bench;
}

TEST_F(Usage, UnknownVerbsAndWordsAreRefused) {
  expect_refused({"trian"}, {"'trian'", "'train'"});
  expect_refused(
      {"xyzzy"},
      {"'xyzzy'",
       "train, init, eval, predict, data, model, compare, bench, runs, watch, plot, diff, report, trace, list"});
  expect_refused({"train", "quickly"}, {"'quickly'"});
  expect_refused({"train", "-x"}, {"'-x'"});
  expect_refused({"list"}, {"models, ops, datasets"});
  expect_refused({"list", "modles"}, {"'modles'", "'models'"});
  expect_refused({"list", "models", "datasets"}, {"'datasets'"});
}

TEST_F(Usage, UnknownOptionsGetTheNearestName) {
  expect_refused({"train", "--modle", "lenet5"}, {"--modle", "--model"});
  expect_refused({"train", "--modle=lenet5"}, {"--modle", "--model"});
  expect_refused({"train", "--xyzzy", "1"}, {"--xyzzy", "--help"});
  expect_refused({"eval", "--rnu", "a"}, {"--rnu", "--run"});
  expect_refused({"predict", "--ouput", "a"}, {"--ouput", "--output"});
}

TEST_F(Usage, AMissingValueNamesItsOption) {
  expect_refused({"train", "--seed"}, {"--seed"});
  expect_refused({"eval"}, {"--run"});
  expect_refused({"predict"}, {"--run"});
}

}  // namespace
}  // namespace trireme::cli_test
