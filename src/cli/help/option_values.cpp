#include "cli/help/option_values.h"

#include <algorithm>

#include "base/text/text.h"
#include "comm/builtin_transports.h"
#include "data/sampling/distribution.h"
#include "data/stages/augment.h"
#include "models/init.h"
#include "optim/learning_rate_schedule.h"
#include "strategy/phases.h"

namespace trireme::cli {
namespace {

using Words = std::vector<std::string>;

// The words without their options: "cosine:min=0" gives cosine.
Words heads(const Words& forms) {
  Words all;
  for (const std::string& form : forms) all.push_back(form.substr(0, form.find_first_of(":, ")));
  return all;
}

template <class Infos>
Words names(const Infos& infos) {
  Words all;
  for (const auto& info : infos) all.emplace_back(info.name);
  return all;
}

Words strategy_names(const train::Registry& registry) {
  Words all = registry.strategies.names();
  all.emplace_back(strategy::switch_row().name);
  return all;
}

Words transport_names(const train::Registry& registry, const std::string& verb) {
  if (verb == "train") return comm::offered_names(registry.transports, &comm::Offers::train);
  Words all = comm::offered_names(registry.transports, &comm::Offers::bench_train);
  for (const std::string& name : comm::offered_names(registry.transports, &comm::Offers::bench_collective))
    if (std::ranges::find(all, name) == all.end()) all.push_back(name);
  return all;
}

// The words known to the registries and other parts. A test checks that all other words are in the option's help.
Words words_of(const train::Registry& registry, const std::string& verb, const std::string& name) {
  if (name == "model") return registry.models.names();
  if (name == "data") return registry.readers.datasets.names();
  if (name == "strategy") return strategy_names(registry);
  if (name == "optimizer") return registry.optimizers.names();
  if (name == "transport") return transport_names(registry, verb);
  if (name == "schedule") return heads(optim::schedule_forms());
  if (name == "augment") return names(data::augmentation_list());
  if (name == "distribute") return names(data::distribution_list());
  if (name == "init") return Words(models::init_styles().begin(), models::init_styles().end());
  if (name == "isa") return {"avx512", "avx2", "generic"};
  if (name == "normalize") return {"standard", "mean", "scale", "none"};
  if (name == "target") return {"classes", "labels", "values"};
  if (name == "assign") return {"measured", "even"};
  if (name == "levels") return {"start-equal", "op-equal", "update-equal", "step-equal", "same-bits"};
  if (name == "algorithm") return {"direct", "whole", "ring", "halving", "tree", "hierarchical", "exact"};
  if (name == "peer-ways") return {"plain", "layout", "in-place", "allocator", "pin", "compile", "bf16"};
  if (name == "peer" && verb == "bench") return {"pytorch", "gloo", "mpi"};
  if (name == "peer") return {"pytorch", "tensorflow"};
  return {};
}

bool is_word(const std::string& text) {
  return !text.empty() && std::ranges::all_of(text, [](char c) { return (c >= 'a' && c <= 'z') || c == '-'; });
}

}  // namespace

OptionValues option_values(const train::Registry& registry, const Verb& verb, const base::OptionSpec& option) {
  const std::string value = option.value, name = option.name;
  OptionValues all;
  all.list = value == "LIST" || value == "NAMES";
  all.words = words_of(registry, verb.name, name);
  if (all.words.empty() && value.find('|') != std::string::npos)
    for (const std::string& word : base::split(value, '|'))
      if (is_word(word)) all.words.push_back(word);
  // Adds the default if it is a word of its own: auto, all, none.
  if (!all.words.empty() && is_word(option.otherwise) &&
      std::ranges::find(all.words, option.otherwise) == all.words.end())
    all.words.emplace_back(option.otherwise);
  if (value == "DIR")
    all.path = OptionValues::Path::folder;
  else if (value == "FILE" || value == "RUN|FILE" || value == "PROGRAM" || name == "data")
    all.path = OptionValues::Path::file;
  return all;
}

}  // namespace trireme::cli
