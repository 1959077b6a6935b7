#include <algorithm>
#include <array>

#include "base/error.h"
#include "base/text/text.h"
#include "bench/bench.h"
#include "models/files/model_file.h"
#include "train/experiment/experiment.h"

namespace trireme::bench {
namespace {

struct Row {
  const char* model;
  std::int64_t batch;  // per worker in the studies; landcover-cnn's is ours
  bool in_all;
};
constexpr std::array kRows{
    Row{"lenet5", 42, true},        Row{"mnist-cnn", 32, true},      Row{"alexnet", 42, true},
    Row{"resnet18", 42, true},      Row{"resnet50", 42, true},       Row{"resnet50-cifar", 26, true},
    Row{"densenet40-12", 26, true}, Row{"resnet18-cifar", 42, true}, Row{"resnet56v2-cifar", 26, true},
    Row{"redshift-cnn", 32, true},  Row{"landcover-cnn", 8, true},   Row{"resnet20-cifar", 26, false}};

std::int64_t own_batch(const models::ModelRow& model) {
  for (const Row& row : kRows)
    if (model.name == row.model) return row.batch;
  return std::max<std::int64_t>(1, model.batch / 3);  // per worker, as in a study with three workers
}

std::vector<std::shared_ptr<const models::ModelRow>> chosen_models(const train::Registry& registry,
                                                                   const base::Settings& settings) {
  std::vector<std::shared_ptr<const models::ModelRow>> chosen;
  const auto choose = [&](const std::string& text) {
    models::ModelRow row = train::named_model(registry, text);
    if (models::is_model_file(text)) {
      row.name = text;
      (void)network_of(row);  // reports its mistakes now
    }
    chosen.push_back(std::make_shared<models::ModelRow>(std::move(row)));
  };
  for (const std::string& name : base::split(settings.text("model"), ',')) {
    if (name == "all") {
      for (const Row& row : kRows)
        if (row.in_all) choose(row.model);
    } else {
      choose(name);
    }
  }
  return chosen;
}

std::vector<int> chosen_threads(const base::Settings& settings) {
  std::vector<int> all;
  for (const std::string& text : base::split(settings.text("threads"), ',')) {
    const std::int64_t threads = base::parse_int(settings.label("threads"), text);
    if (threads < 1 || threads > 4096)
      base::user_error("{} is {}, expected 1 ... 4096", settings.label("threads"), threads);
    all.push_back(static_cast<int>(threads));
  }
  return all;
}

}  // namespace

graph::Network network_of(const models::ModelRow& model) {
  try {
    return models::build_model(model);
  } catch (const base::Error& error) {
    // A description with a loss for labels or values is made for such targets only.
    if (error.kind() != base::ErrorKind::user || !models::is_model_file(model.name)) throw;
    for (const char* target : {"labels", "values"}) try {
        return models::build_model(model, {.target = target});
      } catch (const base::Error&) {
      }
    throw;
  }
}

std::vector<BenchCase> bench_cases(const train::Registry& registry, const base::Settings& settings) {
  const std::int64_t batch = settings.integer("batch", 0, 1 << 20);
  const auto oars = static_cast<int>(settings.integer("oars", 0, 1 << 16));
  const std::array<std::string, 3> reduce{"exact", "fast", "both"};
  const bool fast = settings.choice("reduce", reduce) == "fast";
  const std::string& file = settings.text("kernel-table");
  const auto table = file.empty() ? nullptr : train::read_kernel_table(file);
  std::vector<BenchCase> cases;
  for (const auto& model : chosen_models(registry, settings))
    for (const int threads : chosen_threads(settings)) {
      BenchCase one{model->name, batch > 0 ? batch : own_batch(*model),           threads,
                    oars,        fast ? crew::Reduce::fast : crew::Reduce::exact, table,
                    model};
      if (oars == 0) one.oars = static_cast<int>(std::min<std::int64_t>(threads, one.batch));
      if (one.oars > one.batch)
        base::user_error("{} oars are more than the {} samples of a batch of {}; use --oars {} or fewer", one.oars,
                         one.batch, one.model, one.batch);
      cases.push_back(one);
    }
  return cases;
}

std::unique_ptr<train::StepBenchmark> make_rig(const BenchCase& bench, const base::CorePlan& cores, bool profile) {
  crew::CrewOptions options;
  options.batch = bench.batch;
  options.oars = bench.oars;
  options.threads = bench.busy_threads();
  options.reduce = bench.reduce;
  options.cpus = base::cpus_to_pin(cores, options.threads);
  options.may_spin = options.threads <= cores.usable;
  options.profile = profile;
  options.kernel_table = bench.table;
  return std::make_unique<train::StepBenchmark>(network_of(*bench.info), options);
}

int steps_of_a_round(double step_seconds) {
  constexpr double kRoundSeconds = 0.2;
  constexpr int kMostSteps = 200;
  return std::clamp(static_cast<int>(kRoundSeconds / step_seconds), 1, kMostSteps);
}

double median(std::vector<double> values) {
  std::ranges::sort(values);
  return values[(values.size() - 1) / 2];
}

ProfiledStep profile_step(const BenchCase& bench, const base::CorePlan& cores, int rounds) {
  const auto rig = make_rig(bench, cores, true);
  rig->run(1);
  const int steps = steps_of_a_round(rig->run(1).total);
  rig->take_profile();
  ProfiledStep result;
  for (int round = 0; round < rounds; ++round) {
    const double seconds = rig->run(steps).total;
    result.fastest_seconds = round == 0 ? seconds : std::min(result.fastest_seconds, seconds);
  }
  result.profile = rig->take_profile();
  return result;
}

}  // namespace trireme::bench
