#include "cli/saved_run.h"

#include <fmt/core.h>

#include <array>
#include <optional>

#include "base/error.h"
#include "base/system/standard_streams.h"
#include "train/run_folder/resume.h"
#include "train/run_folder/run_folder.h"
#include "train/run_folder/start_weights.h"

namespace trireme::cli {

std::vector<base::OptionSpec> with_saved_run_options(const std::vector<base::OptionSpec>& own) {
  constexpr const char* kGroup = "Which weights and samples";
  std::vector<base::OptionSpec> all{
      {kGroup, "run", "DIR", "", "run folder"},
      {kGroup, "checkpoint", "auto|best|last", "auto",
       "which weights; auto: the best, or the last where none were chosen"},
      {kGroup, "data", "NAME", "",
       "dataset, file or folder, or for predict - (image names on standard input); default: the run's own"},
      {kGroup, "data-dir", "DIR", "", "where the dataset lies"},
      {kGroup, "split", "test|validation|train", "test", "which samples"},
      {kGroup, "skip-bad", "", "no", "leave images out that cannot be decoded, and count them"},
      {"How", "threads", "N", "0", "threads; never changes the result"},
  };
  all.insert(all.end(), own.begin(), own.end());
  return all;
}

namespace {

// The samples of a run of an older version, which did not store them: those of its data, if that can be opened.
std::optional<train::RunSamples> samples_of_older_run(const train::Registry& registry, const base::Settings& of_run,
                                                      const data::Normalization& normalization) {
  try {
    const train::Experiment own = train::resolve(registry, of_run, {.normalization = &normalization});
    return train::RunSamples{own.data_spec, own.train->spec().inputs};
  } catch (const base::Error& error) {
    if (error.kind() != base::ErrorKind::user) throw;
    return {};
  }
}

// Also two spellings of one path.
bool is_same_data(const std::string& a, const std::string& b) {
  std::error_code ignored;
  return a == b || base::fs::equivalent(a, b, ignored);
}

// True when the run's own data is gone from its place, and what is given is that data in another one.
bool is_moved_data(const train::Registry& registry, const base::Settings& settings, const train::RunFolder& folder,
                   base::Settings of_run, const train::GivenParts& given) {
  std::error_code ignored;
  const std::string& place = of_run.text("data");
  if (registry.readers.datasets.find(place) != nullptr || base::fs::exists(place, ignored)) return false;
  try {
    for (const char* name : {"data", "data-dir"}) of_run.set(name, settings.text(name));
    return train::data_hash(train::resolve(registry, of_run, given)) == train::stored_data_hash(folder);
  } catch (const base::Error& error) {
    if (error.kind() != base::ErrorKind::user) throw;
    return false;
  }
}

// The run's test set is a share of its data, chosen anew each time: of data that has changed since it would have
// samples that the run was trained on. `has_same_settings`: the hash of the experiment's samples can be compared, too.
void check_unchanged(const train::RunFolder& folder, const train::Experiment& experiment, const std::string& data,
                     bool has_same_settings) {
  const auto then = train::stored_set_sizes(folder);
  const train::SetSizes now = train::set_sizes(experiment);
  const bool is_same_size = !then || *then == now;
  if (is_same_size && (!has_same_settings || train::data_hash(experiment) == train::stored_data_hash(folder))) return;
  base::user_error(
      "{} has changed since the run was trained ({}), so samples it was trained on could be taken for test samples; "
      "put "
      "the data back as it was, or name other data with --data",
      data, is_same_size ? "as many samples, but others" : now.text() + "; then " + then->text());
}

// What the run says about its own data is not for other data.
void forget_own_data(base::Settings& resolved, bool keeps_validation) {
  resolved.set("distribute", "global");
  if (!keeps_validation) resolved.set("validation", "none");
  if (resolved.text("data") == "synthetic") return;
  resolved.set("train-samples", "0");
  resolved.set("test-samples", "0");
}

}  // namespace

SavedRun open_saved_run(const train::Registry& registry, const base::Settings& settings, bool may_lack_targets) {
  const std::string& run = settings.text("run");
  if (run.empty()) base::user_error("--run is missing: name the run folder whose weights to use");
  const std::array<std::string, 3> which{"auto", "best", "last"};
  const std::string& wanted = settings.choice("checkpoint", which);
  const std::array<std::string, 3> splits{"test", "validation", "train"};
  SavedRun saved;
  saved.split_name = settings.choice("split", splits);

  base::Settings resolved = train::settings_of_run(run);
  train::check_known_model(registry, resolved, run);
  const train::RunFolder folder = train::RunFolder::open(run);
  const data::Normalization normalization = train::stored_normalization(folder);
  std::optional<train::RunSamples> samples = train::stored_samples(folder);
  DataWish wish{!settings.is_set("data") || is_same_data(settings.text("data"), resolved.text("data")),
                !settings.is_set("split"), may_lack_targets};
  // Who names a file to predict means all of it, also where the run kept a part of it for tests.
  const bool is_all = may_lack_targets && settings.is_set("data") && !settings.is_set("split") &&
                      registry.readers.datasets.find(settings.text("data")) == nullptr;
  if (is_all) wish.is_own = false;
  train::GivenParts given{&normalization, train::stored_target_scale(folder), train::stored_network(folder)};
  bool is_moved = false;
  if (wish.is_own)
    train::check_data_exists(registry, settings.is_set("data") ? settings : resolved, run, "--data PLACE");
  else if (!is_all)
    wish.is_own = is_moved = is_moved_data(registry, settings, folder, resolved, given);
  if (!samples && !wish.is_own) samples = samples_of_older_run(registry, resolved, normalization);
  for (const char* name : {"data", "data-dir"})
    if (settings.is_set(name)) resolved.set(name, settings.text(name));
  if (!wish.is_own) forget_own_data(resolved, saved.split_name == "validation");
  resolved.set("threads", settings.text("threads"));
  resolved.set("pin", "auto");
  // Augmentation changes the training samples only, and the hash of all sets is with it.
  const bool has_same_settings = saved.split_name != "train" || resolved.text("augment") == "none";
  if (!has_same_settings || !wish.is_own) resolved.set("augment", "none");
  resolved.set("class-weights", "none");  // evaluation weighs all samples alike
  resolved.set("freeze", "");
  if (!wish.is_own) resolved.set("early-stopping", "0");  // it asks for a validation set
  if (settings.is_set("skip-bad")) resolved.set("skip-bad", "yes");
  saved.data_name = resolved.text("data");
  std::optional<train::SavedData> data;
  if (samples) given.data = &data.emplace(saved_data(registry.readers, *samples, wish, saved.found));
  saved.experiment = train::resolve(registry, resolved, given);
  if (wish.is_own) check_unchanged(folder, saved.experiment, saved.data_name, has_same_settings);
  if (is_moved)
    saved.found.notes.push_back(fmt::format("{} is the run's own data in another place: its {} samples are used",
                                            saved.data_name, saved.split_name));
  saved.split = saved.split_name == "test"    ? saved.experiment.test
                : saved.split_name == "train" ? saved.experiment.train
                                              : saved.experiment.validation;
  if (!saved.split) base::user_error("the run {} kept no validation set; use --split test", run);
  if (saved.found.is_whole) saved.split_name = "all";
  saved.experiment.crew_options.training = false;
  saved.crew = std::make_unique<crew::Crew>(saved.experiment.network, saved.experiment.crew_options);
  const auto [checkpoint, is_best] = train::chosen_checkpoint(run, wanted);
  train::load_run_weights(*saved.crew, checkpoint);
  saved.checkpoint = checkpoint.string();
  saved.weights = is_best ? "best" : "last";
  return saved;
}

void print_notes(const FoundData& found) {
  for (const std::string& note : found.notes) base::print_note(note);
}

}  // namespace trireme::cli
