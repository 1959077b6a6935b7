// `trireme init`: looks at data and writes a first experiment for it: a commented TOML file, and a network if none of
// the zoo suits.
#include <fmt/core.h>

#include <algorithm>
#include <array>

#include "base/error.h"
#include "base/system/beside_program.h"
#include "base/system/files.h"
#include "base/text/text.h"
#include "cli/cli.h"
#include "cli/config_file.h"
#include "cli/data_options.h"
#include "data/readers/table/table_options.h"
#include "train/evaluation/predictions.h"
#include "train/experiment/options.h"
#include "train/starter/starter.h"
#include "train/step_benchmark.h"

namespace trireme::cli {
namespace {

namespace fs = base::fs;
using Option = base::OptionSpec;

std::vector<Option> init_options() {
  std::vector<Option> all{
      {"Which data", "data", "NAME", "", "a file or folder of your own, or a dataset (trireme list datasets)"},
      {"Which data", "data-dir", "DIR", "", "where the dataset lies; else TRIREME_DATA, else where Debian puts it"},
      {"Which data", "target", "KIND", "classes", "what files of your own ask for: classes, labels or values"},
      {"Which data", "skip-bad", "", "no", "leave images out that cannot be decoded, and count them"},
      {"Which data", "seed", "N", "1", "the seed of the experiment; also chooses the test set where there is none"}};
  const std::vector<Option> tables = options_of_train("Tables", kTableOptions);
  all.insert(all.end(), tables.begin(), tables.end());
  return all;
}

constexpr const char* kConfigName = "train.toml";
constexpr const char* kNetworkName = "small-resnet.toml";
constexpr std::size_t kListedClasses = 20;
constexpr double kUnbalanced = 3;  // the largest class has so many times the samples of the smallest
constexpr int kTimedSteps = 5;

data::DataRequest init_request(const base::Settings& settings) {
  data::DataRequest request;
  request.name = settings.text("data");
  if (request.name.empty()) base::user_error("say which data the experiment is for: --data FOLDER or FILE");
  request.data_dir = settings.text("data-dir");
  request.seed = static_cast<std::uint64_t>(settings.integer("seed", 0, std::int64_t{1} << 40));
  request.skip_bad = settings.flag("skip-bad");
  const std::array<std::string, 3> kinds{"classes", "labels", "values"};
  request.wanted_target = *data::target_kind(settings.choice("target", kinds));
  request.table = data::table_options(settings);
  return request;
}

void check_new(const fs::path& folder) {
  std::error_code ignored;
  if (fs::exists(folder, ignored) && !(fs::is_directory(folder, ignored) && fs::is_empty(folder, ignored)))
    base::user_error("{} exists already and is not empty; name a new folder", folder.string());
}

const char* kind_text(train::SampleKind kind) {
  return kind == train::SampleKind::image ? "images" : kind == train::SampleKind::series ? "series" : "rows of numbers";
}

void print_counts(const train::DataSurvey& survey) {
  const auto [least, most] = std::ranges::minmax(survey.train_counts);
  if (survey.train_counts.size() > kListedClasses) {
    fmt::print("  {} to {} training samples per class\n", least, most);
  } else {
    fmt::print("  {:<20} {:>9} {:>9}\n", survey.spec.target == data::TargetKind::classes ? "class" : "label", "train",
               "test");
    for (std::size_t c = 0; c < survey.train_counts.size(); ++c)
      fmt::print("  {:<20} {:>9} {:>9}\n", train::class_name(survey.spec, c), survey.train_counts[c],
                 survey.test_counts[c]);
  }
  if (static_cast<double>(most) > kUnbalanced * static_cast<double>(least))
    fmt::print(
        "note: the classes are unbalanced, {} to {} samples: look at the F1 of each class in trireme eval, not at "
        "the accuracy alone\n",
        least, most);
}

void print_found(const base::Settings& settings, const train::DataSurvey& survey, const train::StarterPlan& plan) {
  fmt::print("{}: {}, {} training and {}\n", settings.text("data"), kind_text(survey.kind), survey.train,
             base::counted(survey.test, "test sample"));
  if (survey.median.shorter > 0)
    fmt::print("  the shorter side has {} to {} pixels, the median image {}x{}; they become {}x{}\n",
               survey.smallest.shorter, survey.largest.shorter, survey.median.shorter, survey.median.longer,
               plan.image_size, plan.image_size);
  else
    fmt::print("  {}\n", data::spec_text(survey.spec));
  if (survey.spec.target != data::TargetKind::values) return print_counts(survey);
  fmt::print("  the values have mean {:.4g} and deviation {:.4g}\n", survey.target_mean, survey.target_deviation);
}

// The time of the run on this machine, from a few steps.
double seconds_of(const train::Experiment& experiment) {
  train::StepBenchmark benchmark(experiment.network, experiment.crew_options);
  benchmark.run(1);
  return benchmark.run(kTimedSteps).total * static_cast<double>(experiment.total_steps);
}

// The experiment as train reads it. One that train would refuse does not stay.
train::Experiment read_back(const train::Registry& registry, const fs::path& config, const fs::path& network) {
  try {
    base::Settings written(train::train_options());
    read_config(written, config.string());
    return train::resolve(registry, written);
  } catch (const base::Error&) {
    std::error_code ignored;
    for (const fs::path& file : {config, network, config.parent_path()}) fs::remove(file, ignored);
    throw;
  }
}

int run_init(const train::Registry& registry, const base::Settings& settings, const Arguments& arguments) {
  const std::string argument = first_of(arguments);
  if (argument.empty()) base::user_error("say where to write, as in: trireme init first --data photos");
  const fs::path folder = argument, config = folder / kConfigName, network = folder / kNetworkName;
  const data::DataRequest request = init_request(settings);
  check_new(folder);
  const train::DataSurvey survey = train::survey_data(registry.readers, request);
  const train::StarterPlan plan = train::plan_start(survey);
  const bool is_named = registry.readers.datasets.find(request.name) != nullptr;
  train::StarterNames names{is_named ? request.name : fs::absolute(request.name).lexically_normal().string(),
                            request.data_dir.empty() ? "" : fs::absolute(request.data_dir).string(),
                            settings.text("target"),
                            plan.model.empty() ? fs::absolute(network).lexically_normal().string() : plan.model,
                            config.string(),
                            request.seed,
                            request.skip_bad,
                            {}};
  for (const std::string_view option : kTableOptions)
    if (const std::string name(option); settings.is_set(name)) names.table.emplace_back(name, settings.text(name));
  print_found(settings, survey, plan);

  std::error_code cause;
  fs::create_directories(folder, cause);
  if (cause) base::user_error("cannot make the folder {}: {}", folder.string(), cause.message());
  if (plan.model.empty()) base::write_text_atomically(network, train::starter_network(plan, survey));
  base::write_text_atomically(config, train::starter_config(plan, survey, names));
  const train::Experiment experiment = read_back(registry, config, network);
  for (const std::string& note : experiment.notes) fmt::print("note: {}\n", note);
  fmt::print("{}: {} ({} parameters), {} epochs of {}, batch {}; the steps take about {} here\n", config.string(),
             plan.model.empty() ? network.string() : plan.model, experiment.network.parameter_count(), plan.epochs,
             base::counted(experiment.steps_per_epoch, "step"), experiment.batch,
             base::human_seconds(seconds_of(experiment)));
  fmt::print("read it, change what you like, then: {} train --config {}\n", base::program_name(), config.string());
  return 0;
}

}  // namespace

Verb init_verb() {
  static const std::vector<Option> options = init_options();
  return {"init",
          "look at data of your own and write a first experiment for it, a commented TOML file",
          "Examples:\n"
          "  trireme init first --data photos\n"
          "  trireme init prices --data houses.csv --target values\n"
          "  trireme train --config first/train.toml",
          options,
          "folder",
          run_init};
}

}  // namespace trireme::cli
