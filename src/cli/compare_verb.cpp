#include <fmt/core.h>
#include <unistd.h>

#include <array>
#include <nlohmann/json.hpp>

#include "cli/bench_peer.h"
#include "cli/cli.h"
#include "compare/compare.h"
#include "train/options.h"

namespace trireme::cli {
namespace {

using Option = base::OptionSpec;

constexpr std::array kOptions{
    Option{"What to compare", "model", "NAME", "mnist-cnn", "network of the zoo (trireme list models)"},
    Option{"What to compare", "peer", "NAME", "pytorch", "the other system: pytorch"},
    Option{"What to compare", "python", "PROGRAM", "",
           "interpreter with PyTorch; else TRIREME_PYTHON, else python3 or /usr/bin/python3"},
    Option{"What to compare", "steps", "N", "20", "training steps on both sides"},

    Option{"With what", "data", "NAME", "synthetic", "dataset (trireme list datasets)"},
    Option{"With what", "data-dir", "DIR", "", "where it lies"},
    Option{"With what", "batch", "N", "16", "samples of a step"},
    Option{"With what", "oars", "V", "2", "micro-batches that it is cut into, on both sides"},
    Option{"With what", "augment", "LIST", "none", "changes to samples (trireme list augmentations)"},
    Option{"With what", "optimizer", "SPEC", "sgd:lr=0.01,momentum=0.9", "rule and options (trireme list optimizers)"},
    Option{"With what", "schedule", "SPEC", "constant", "learning rate over the steps"},
    Option{"With what", "init", "STYLE", "pytorch", "initial weights: pytorch, keras or he"},
    Option{"With what", "seed", "N", "1", "everything random follows from it"},

    Option{"How", "json", "", "no", "print the verdicts as one JSON object"},
};

// What train makes of the same options.
train::Experiment experiment_of(const base::Settings& settings) {
  base::Settings of_train(train::train_options());
  for (const char* name :
       {"model", "steps", "data", "data-dir", "batch", "oars", "augment", "optimizer", "schedule", "init", "seed"})
    of_train.set(name, settings.text(name));
  of_train.set("threads", "1");
  of_train.set("pin", "no");
  return train::resolve(of_train);
}

void print_json(const compare::Outcome& outcome, const base::Settings& settings) {
  nlohmann::ordered_json json{{"model", settings.text("model")},
                              {"peer", settings.text("peer")},
                              {"peer_version", outcome.peer_version},
                              {"passed", outcome.passed()}};
  for (const compare::Level& level : outcome.levels) {
    nlohmann::ordered_json one{{"level", level.name}, {"passed", level.passed}, {"summary", level.summary}};
    for (const compare::Difference& worst : level.worst)
      one["worst"].push_back({{"name", worst.name}, {"error", worst.error}, {"limit", worst.limit}});
    json["levels"].push_back(std::move(one));
  }
  fmt::print("{}\n", json.dump());
}

void print_table(const compare::Outcome& outcome, const base::Settings& settings) {
  fmt::print("{} here and in PyTorch {}\n", settings.text("model"), outcome.peer_version);
  for (const compare::Level& level : outcome.levels)
    fmt::print("{:<12} {:<6} {}\n", level.name, level.passed ? "passes" : "FAILS", level.summary);
}

int run_compare(const base::Settings& settings, const std::string&) {
  settings.choice("peer", std::array{std::string("pytorch")});
  const std::int64_t steps = settings.integer("steps", 1, 100000);
  const train::Experiment experiment = experiment_of(settings);
  const Peer peer = find_peer(settings, "pytorch", "compare.py");
  const compare::Options options{.python = peer.python,
                                 .script = peer.script,
                                 .optimizer = settings.text("optimizer"),
                                 .schedule = settings.text("schedule"),
                                 .init = settings.text("init"),
                                 .steps = steps};
  const bool shows = isatty(STDERR_FILENO) != 0;
  const compare::Outcome outcome = compare::compare(experiment, options, [&](std::int64_t step) {
    if (shows) fmt::print(stderr, "\rstep {} of {}", step, options.steps);
    if (shows && step == options.steps) fmt::print(stderr, "\r\033[K");
  });
  settings.flag("json") ? print_json(outcome, settings) : print_table(outcome, settings);
  return outcome.passed() ? 0 : 1;
}

}  // namespace

Verb compare_verb() {
  return {"compare",
          "show that a network is the same here and in PyTorch, and stays so while it trains",
          "Examples:\n"
          "  trireme compare --model resnet20-cifar --steps 20\n"
          "  trireme compare --model mnist-cnn --optimizer adam --batch 32 --oars 4",
          kOptions,
          "",
          run_compare};
}

}  // namespace trireme::cli
