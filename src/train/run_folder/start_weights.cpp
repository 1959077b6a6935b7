#include "train/run_folder/start_weights.h"

#include <fmt/core.h>

#include "base/error.h"
#include "graph/fusion.h"
#include "models/init.h"
#include "store/checkpoint.h"
#include "store/parameters_io.h"
#include "train/run_folder/run_folder.h"
#include "train/run_folder/weight_file.h"

namespace trireme::train {
namespace {

std::span<float> weights_of(crew::Crew& crew) {
  return {crew.weights(), static_cast<std::size_t>(crew.space().floats())};
}

}  // namespace

ChosenCheckpoint chosen_checkpoint(const std::string& run, const std::string& which) {
  const base::fs::path folder = RunFolder::open(run).checkpoints();
  const store::CheckpointStore checkpoints(folder, 1);
  const auto latest = checkpoints.latest();
  if (!latest) base::user_error("the run {} has no checkpoint yet", run);
  const auto best = which == "last" ? std::nullopt : checkpoints.best();
  std::error_code ignored;
  if (which != "last" && !best && base::fs::exists(folder / "best", ignored))
    base::user_error("{} names no checkpoint that is there; --checkpoint last takes the last one",
                     (folder / "best").string());
  if (which == "best" && !best)
    base::user_error("the run {} has not chosen best weights (see --validation of train); use --checkpoint last", run);
  return {best ? *best : *latest, best.has_value()};
}

void fill_fresh_weights(crew::Crew& crew, const std::string& style, std::uint64_t seed) {
  models::initialize(crew.network(), crew.space(), crew.weights(), style, seed);
  crew.refresh_weight_forms();
}

void fill_fresh_weights(const graph::Network& network, const tensor::ParameterSpace& space, std::span<float> weights,
                        const std::string& style, std::uint64_t seed) {
  models::initialize(graph::fuse(network), space, weights.data(), style, seed);
}

std::string take_weights_from(const tensor::ParameterSpace& space, std::span<float> weights,
                              const std::string& run_or_file, std::vector<std::string>* fresh_names) {
  std::error_code ignored;
  base::fs::path file = run_or_file;
  store::SafetensorsFile tensors;
  if (base::fs::is_directory(run_or_file, ignored)) {
    const base::fs::path folder = chosen_checkpoint(run_or_file, "auto").folder;
    file = folder / "weights.safetensors";
    tensors = store::CheckpointStore::load(folder, false).weights;
  } else {
    tensors = read_weight_file(file);
  }
  const store::Matching matching = store::import_matching(space, weights, tensors);
  if (matching.copied.empty())
    base::user_error("{} has no parameter of this network by name and shape; is it of another network?", file.string());
  if (matching.skipped.empty()) return fmt::format("all {} parameters from {}", matching.copied.size(), file.string());
  if (fresh_names) *fresh_names = matching.skipped;
  std::string fresh;
  for (std::size_t i = 0; i < matching.skipped.size() && i < 4; ++i) fresh += (i ? ", " : "") + matching.skipped[i];
  if (matching.skipped.size() > 4) fresh += ", ...";
  return fmt::format("{} parameters from {}; {} stay fresh ({})", matching.copied.size(), file.string(),
                     matching.skipped.size(), fresh);
}

void load_run_weights(crew::Crew& crew, const base::fs::path& checkpoint) {
  const store::LoadedCheckpoint loaded = store::CheckpointStore::load(checkpoint, false);
  store::import_parameters(crew.space(), weights_of(crew), loaded.weights);
  crew.refresh_weight_forms();
}

}  // namespace trireme::train
