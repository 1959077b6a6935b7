#include "bench/peer/comparison.h"

#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <array>

#include "base/error.h"
#include "base/system/terminal.h"
#include "base/text/nearest.h"
#include "base/text/text.h"
#include "bench/peer/find_peer.h"
#include "graph/choices.h"
#include "graph/fusion.h"
#include "train/experiment/options.h"
#include "train/run/job.h"
#include "train/worker/interrupt.h"

namespace trireme::bench {
namespace {

using Option = base::OptionSpec;

constexpr const char* kHow = "How";  // options that do not change what is compared

constexpr std::array kOptions{
    Option{"What to compare", "model", "NAME", "mnist-cnn", "network of the zoo (trireme list models)"},
    Option{"What to compare", "peer", "NAME", "pytorch", "the other system: pytorch or tensorflow"},
    Option{"What to compare", "steps", "N", "20", "training steps on both sides"},
    Option{"What to compare", "levels", "LIST", "all",
           "which to judge beside start-equal: op-equal, update-equal, step-equal, same-bits"},

    Option{"With what", "data", "NAME", "synthetic", "dataset (trireme list datasets)"},
    Option{"With what", "data-dir", "DIR", "", "where it lies"},
    Option{"With what", "train-samples", "N", "0", "use only the first N training samples; 0: all"},
    Option{"With what", "test-samples", "N", "0", "use only the first N test samples; 0: all"},
    Option{"With what", "batch", "N", "16", "samples of a step"},
    Option{"With what", "oars", "V", "2", "micro-batches that it is cut into, on both sides"},
    Option{"With what", "augment", "LIST", "none", "changes to samples (trireme list augmentations)"},
    Option{"With what", "optimizer", "SPEC", "sgd:lr=0.01,momentum=0.9", "rule and options (trireme list optimizers)"},
    Option{"With what", "schedule", "SPEC", "constant", "learning rate over the steps"},
    Option{"With what", "init", "STYLE", "pytorch", "initial weights: pytorch, keras or he"},
    Option{"With what", "seed", "N", "1", "everything random follows from it"},
    Option{"With what", "winograd", "auto|yes|no", "auto",
           "convolutions by Winograd: where it is faster, wherever it is possible, or nowhere"},

    Option{"Whole runs", "runs", "K", "0",
           "also train K times on both sides, from seeds of their own, and test whether they learn the same"},
    Option{"Whole runs", "epochs", "N", "3", "of each of these runs"},
    Option{"Whole runs", "margin", "POINTS", "1", "accuracies in percent that differ by less are taken as equal"},
    Option{"Whole runs", "target-accuracy", "PERCENT", "0",
           "also compare the epochs until a run reaches it; 0: 98 % of what the peer reaches"},
    Option{"Whole runs", "strategy", "SPEC", "auto", "of our runs (trireme list strategies); it may be asynchronous"},
    Option{"Whole runs", "workers", "N", "1", "of our runs"},
    Option{"Whole runs", "servers", "K", "0", "of our runs; 0: one where the strategy needs it"},

    Option{kHow, "python", "PROGRAM", "",
           "interpreter with the peer; else TRIREME_PYTHON, else python3 or /usr/bin/python3"},
    Option{kHow, "certificate", "FILE", "", "write settings, numbers and verdicts into a new file"},
    Option{kHow, "check", "FILE", "", "instead, check such a file: its seal, its verdicts, and whether they hold here"},
    Option{kHow, "weights-a", "FILE", "", "instead, compare two files of weights, .safetensors or .npz: this one"},
    Option{kHow, "weights-b", "FILE", "", "and that one"},
    Option{kHow, "details", "", "no", "also a line for every layer and step"},
    Option{kHow, "json", "", "no", "print the certificate as one JSON object"},
};

// Options shared with train.
constexpr std::array kOfTrain{"model", "data",    "data-dir",  "train-samples", "test-samples", "batch",
                              "oars",  "augment", "optimizer", "schedule",      "init"};

compare::TrainOptions train_options_of(const base::Settings& settings) {
  compare::TrainOptions all;
  for (const char* name : kOfTrain)
    if (!settings.text(name).empty()) all[name] = settings.text(name);
  all["seed"] = settings.text("seed");
  all["steps"] = settings.text("steps");
  return all;
}

// Selects this algorithm for every layer that supports it.
std::shared_ptr<const ops::KernelTable> table_for(const graph::Network& network, std::int64_t samples,
                                                  const std::string& algorithm) {
  auto table = std::make_shared<ops::KernelTable>();
  for (const graph::LayerChoices& layer : graph::layers_with_a_choice(graph::fuse(network), samples))
    if (std::ranges::find(layer.choices.algorithms, algorithm) != layer.choices.algorithms.end())
      table->choose(base::active_isa(), layer.choices.layer, algorithm);
  return table;
}

// The experiment that train makes of the same options.
train::Experiment experiment_of(const train::Registry& registry, const base::Settings& settings,
                                const compare::TrainOptions& options) {
  base::Settings of_train(train::train_options());
  for (const auto& [name, value] : options) of_train.set(name, value);
  of_train.set("threads", "1");
  of_train.set("pin", "no");
  train::Experiment experiment = train::resolve(registry, of_train);
  const std::array<std::string, 3> words{"auto", "yes", "no"};
  if (const std::string& winograd = settings.choice("winograd", words); winograd != "auto")
    experiment.crew_options.kernel_table =
        table_for(experiment.network, (experiment.batch + experiment.oars - 1) / experiment.oars,
                  winograd == "yes" ? "winograd" : "direct");
  return experiment;
}

double percent(const base::Settings& settings, const char* name) {
  const double value = settings.number(name);
  if (!(value >= 0 && value <= 100)) base::user_error("{} is {}, expected 0 ... 100", settings.label(name), value);
  return value / 100;
}

compare::ConvergenceOptions convergence_of(const train::Registry& registry, const base::Settings& settings) {
  compare::ConvergenceOptions options{.runs = static_cast<int>(settings.integer("runs", 0, 1000)),
                                      .first_seed = static_cast<std::uint64_t>(settings.integer("seed", 0, 1LL << 40)),
                                      .epochs = settings.integer("epochs", 1, 100000),
                                      .margin = percent(settings, "margin"),
                                      .target_accuracy = percent(settings, "target-accuracy"),
                                      .optimizer = settings.text("optimizer"),
                                      .schedule = settings.text("schedule"),
                                      .init = settings.text("init"),
                                      .ours = {{"strategy", settings.text("strategy")},
                                               {"workers", settings.text("workers")},
                                               {"servers", settings.text("servers")}}};
  if (options.runs == 1) base::user_error("--runs is 1, but the spread of runs can only be estimated from 2 or more");
  if (options.runs > 0 && options.margin == 0)
    base::user_error("--margin is 0, but two systems never learn exactly the same; give a margin above 0");
  base::Settings of_train(train::train_options());
  for (const auto& [name, value] : options.ours) of_train.set(name, value);
  train::check_settings(registry, train::effective_settings(registry, of_train));
  return options;
}

// A progress line that is overwritten; only on a terminal.
class ProgressLine {
 public:
  ~ProgressLine() { clear(); }
  void tell(const std::string& text) {
    if (watch_.requested()) base::run_error("the comparison was interrupted");
    if (!shows_) return;
    fmt::print(stderr, "\r\033[K{}", text);
    std::fflush(stderr);
  }
  void clear() const {
    if (shows_) fmt::print(stderr, "\r\033[K");
  }
  bool interrupted() const { return watch_.requested(); }

 private:
  train::InterruptWatch watch_;
  bool shows_ = base::can_redraw(stderr);
};

std::vector<std::string> levels_of(const base::Settings& settings) {
  if (settings.text("levels") == "all") return {};
  const std::vector<std::string> names = compare::level_names();
  std::vector<std::string> levels = base::split(settings.text("levels"), ',');
  for (const std::string& level : levels)
    if (std::ranges::find(names, level) == names.end())
      base::user_error("{}", base::unknown_name("level", level, names));
  return levels;
}

compare::Options options_of(const train::Registry& registry, const base::Settings& settings) {
  return {.optimizer = settings.text("optimizer"),
          .schedule = settings.text("schedule"),
          .init = settings.text("init"),
          .steps = settings.integer("steps", 1, 100000),
          .train = train_options_of(settings),
          .levels = levels_of(settings),
          .convergence = convergence_of(registry, settings)};
}

}  // namespace

std::span<const base::OptionSpec> comparison_options() { return kOptions; }

Comparison::Comparison(const train::Registry& registry, const base::Settings& settings)
    : registry_(registry),
      settings_(settings),
      system_(peer::find_system(settings.text("peer"))),
      options_(options_of(registry, settings)),
      experiment_(experiment_of(registry, settings, options_.train)) {
  if (system_.name != peer::pytorch().name) check_has_counterpart(settings.text("model"), system_);
  if (experiment_.train->spec().target != data::TargetKind::classes)
    base::user_error("compare needs data with classes; {} has {}", settings.text("data"),
                     data::target_name(experiment_.train->spec().target));
}

void Comparison::find_peer() {
  const Peer peer = bench::find_peer(settings_, system_, "compare.py");
  options_.peer = {system_, peer.python, peer.script};
}

compare::Outcome Comparison::run() const {
  ProgressLine progress;
  const auto make = [&](const compare::TrainOptions& on_top) {
    compare::TrainOptions all = on_top;
    all.insert(options_.train.begin(), options_.train.end());
    return experiment_of(registry_, settings_, all);
  };
  try {
    return compare::compare(experiment_, options_, make, [&](const std::string& text) { progress.tell(text); });
  } catch (const base::Error&) {
    if (progress.interrupted()) base::run_error("the comparison was interrupted");
    throw;
  }
}

std::map<std::string, std::string> Comparison::values() const {
  std::map<std::string, std::string> all;
  for (const Option& option : kOptions)
    if (option.group != kHow) all[option.name] = settings_.text(option.name);
  return all;
}

}  // namespace trireme::bench
