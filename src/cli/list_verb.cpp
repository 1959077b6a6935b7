#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <deque>

#include "base/error.h"
#include "base/system/standard_streams.h"
#include "base/text/nearest.h"
#include "base/text/text.h"
#include "cli/cli.h"
#include "comm/transport/transport.h"
#include "data/open_data.h"
#include "data/sampling/distribution.h"
#include "data/stages/augment.h"
#include "models/zoo.h"
#include "ops/core/op_registry.h"
#include "optim/learning_rate_schedule.h"
#include "optim/optimizer.h"
#include "strategy/phases.h"

namespace trireme::cli {
namespace {

void print_options(const std::vector<base::SpecOption>& options) {
  std::size_t width = 28;
  for (const base::SpecOption& option : options) width = std::max(width, (option.key + "=" + option.values).size());
  for (const base::SpecOption& option : options)
    fmt::print("  {:<{}} {}\n", option.key + "=" + option.values, width, option.help);
}

// The number of parameters; of a network of a user's own that cannot be made a dash, and why is added to the notes.
std::string parameters_of(const models::ModelRow& model, std::vector<std::string>& notes) {
  try {
    return std::to_string(models::build_model(model).parameter_count());
  } catch (const base::Error& error) {
    notes.push_back(fmt::format("{} cannot be made: {}", model.name, error.what()));
    return "-";
  }
}

void list_models(const train::Registry& registry) {
  std::vector<std::string> notes;
  fmt::print("{:<18} {:>22} {:>8} {:>12} {:>6}  {}\n", "model", "input", "classes", "parameters", "batch",
             "description");
  for (const models::ModelRow& model : registry.models.rows()) {
    std::string inputs;
    for (const auto& shape : model.inputs) inputs += (inputs.empty() ? "" : " ") + shape.text();
    fmt::print("{:<18} {:>22} {:>8} {:>12} {:>6}  {}\n", model.name, inputs, model.classes, parameters_of(model, notes),
               model.batch, model.summary);
  }
  for (const std::string& note : notes) base::print_note(note);
  fmt::print("\noptions of models (--model NAME:option=value,...):\n");
  for (const models::ModelRow& model : registry.models.rows()) {
    if (model.options.empty()) continue;
    fmt::print("{:<18} {}\n", model.name, model.summary);
    print_options(model.options);
  }
}

void list_datasets(const train::Registry& registry) {
  for (const auto& dataset : registry.readers.datasets.rows()) fmt::print("{:<16} {}\n", dataset.name, dataset.summary);
  fmt::print("\nfiles and folders (--data PATH):\n");
  for (const auto& format : registry.readers.formats.rows()) fmt::print("{:<16} {}\n", format.name, format.summary);
  fmt::print("\ncompressed files, recognised by their first bytes:\n");
  for (const data::CodecRow& codec : registry.readers.codecs.rows())
    fmt::print("{:<16} {}\n", codec.ending, codec.summary);
  fmt::print("\nhow workers share the samples (--distribute):\n");
  for (const auto& scheme : data::distribution_list()) fmt::print("{:<16} {}\n", scheme.name, scheme.description);
}

void list_augmentations(const train::Registry&) {
  for (const auto& kind : data::augmentation_list()) fmt::print("{:<16} {}\n", kind.name, kind.description);
}

void list_strategies(const train::Registry& registry) {
  std::deque<strategy::StrategyRow> rows = registry.strategies.rows();
  rows.push_back(strategy::switch_row());
  for (const strategy::StrategyRow& row : rows) {
    fmt::print("{:<12} {}\n", row.name, row.summary);
    print_options(row.options);
  }
  fmt::print("\nsyntax: --strategy NAME:option=value,option=value, as in --strategy ps:mode=ssp,staleness=3\n");
}

void list_ops(const train::Registry& registry) {
  for (const ops::OpRow& row : registry.ops.rows()) {
    fmt::print("{:<22} {}\n", row.name, row.summary);
    print_options(row.options);
  }
}

void list_optimizers(const train::Registry& registry) {
  for (const auto& optimizer : registry.optimizers.rows())
    fmt::print("{:<12} {}\n{:<12} {}\n", optimizer.name, optimizer.summary, "",
               optim::make_optimizer(registry.optimizers, optimizer.name)->text());
  fmt::print("\nschedules:\n");
  for (const std::string& form : optim::schedule_forms()) fmt::print("  {}\n", form);
}

void list_transports(const train::Registry& registry) {
  for (const comm::Transport& transport : registry.transports.rows())
    if (transport.offered.train) fmt::print("{:<8} {}\n", transport.name, transport.summary);
}

void list_sinks(const train::Registry& registry) {
  for (const train::SinkRow& sink : registry.sinks.rows()) fmt::print("{:<12} {}\n", sink.name, sink.summary);
}

struct Topic {
  const char* name;
  void (*print)(const train::Registry& registry);
};
constexpr std::array<Topic, 8> kTopics{{{"models", list_models},
                                        {"ops", list_ops},
                                        {"datasets", list_datasets},
                                        {"augmentations", list_augmentations},
                                        {"strategies", list_strategies},
                                        {"optimizers", list_optimizers},
                                        {"transports", list_transports},
                                        {"sinks", list_sinks}}};

std::vector<std::string> topic_names() {
  std::vector<std::string> names;
  for (const Topic& each : kTopics) names.emplace_back(each.name);
  return names;
}

int run_list(const train::Registry& registry, const base::Settings&, const Arguments& arguments) {
  const std::string topic = first_of(arguments);
  for (const Topic& each : kTopics) {
    if (topic != each.name) continue;
    each.print(registry);
    return 0;
  }
  if (topic.empty()) base::user_error("say what to list: {}", base::join_or(topic_names()));
  base::user_error("{}", base::unknown_name("list of", topic, topic_names()));
}

}  // namespace

Verb list_verb() {
  return {"list",
          "list models, ops, datasets, augmentations, strategies, optimizers, transports or sinks",
          "Example:\n  trireme list models",
          {},
          "what",
          run_list,
          {},
          topic_names()};
}

}  // namespace trireme::cli
