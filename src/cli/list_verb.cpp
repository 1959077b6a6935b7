#include <fmt/core.h>

#include <array>

#include "base/error.h"
#include "base/nearest.h"
#include "cli/cli.h"
#include "data/augment.h"
#include "data/distribution.h"
#include "data/open.h"
#include "models/zoo.h"
#include "optim/optimizer.h"
#include "optim/schedule.h"
#include "strategy/spec.h"

namespace trireme::cli {
namespace {

void list_models() {
  fmt::print("{:<18} {:>22} {:>8} {:>12} {:>6}  {}\n", "model", "input", "classes", "parameters", "batch",
             "description");
  for (const models::ModelInfo& model : models::model_list()) {
    std::string inputs;
    for (const auto& shape : model.inputs) inputs += (inputs.empty() ? "" : " ") + shape.text();
    fmt::print("{:<18} {:>22} {:>8} {:>12} {:>6}  {}\n", model.name, inputs, model.classes,
               models::build_model(model.name).parameter_count(), model.batch, model.description);
  }
}

void list_datasets() {
  for (const auto& dataset : data::dataset_list()) fmt::print("{:<16} {}\n", dataset.name, dataset.description);
  fmt::print("\nfiles and folders (--data PATH):\n");
  for (const auto& format : data::format_list()) fmt::print("{:<16} {}\n", format.name, format.description);
  fmt::print("\nhow workers share the samples (--distribute):\n");
  for (const auto& scheme : data::distribution_list()) fmt::print("{:<16} {}\n", scheme.name, scheme.description);
}

void list_augmentations() {
  for (const auto& kind : data::augmentation_list()) fmt::print("{:<16} {}\n", kind.name, kind.description);
}

void list_strategies() {
  for (const auto& strategy : strategy::strategy_list())
    fmt::print("{:<12} {}\n{:<12} {}\n", strategy.name, strategy.summary, "", strategy.options);
}

void list_optimizers() {
  for (const auto& optimizer : optim::optimizer_list())
    fmt::print("{:<12} {}\n{:<12} {}\n", optimizer.name, optimizer.summary, "", optimizer.defaults);
  fmt::print("\nschedules:\n");
  for (const std::string& form : optim::schedule_forms()) fmt::print("  {}\n", form);
}

void list_transports() {
  fmt::print("{:<8} {}\n", "auto", "shared memory between processes of one host, TCP between hosts, MPI under mpirun");
  fmt::print("{:<8} {}\n", "tcp", "TCP everywhere, also on one host; encrypted with --tls");
  fmt::print("{:<8} {}\n", "mpi", "what mpirun offers, for networks that only MPI reaches");
}

struct Topic {
  const char* name;
  void (*print)();
};
constexpr std::array<Topic, 6> kTopics{{{"models", list_models},
                                        {"datasets", list_datasets},
                                        {"augmentations", list_augmentations},
                                        {"strategies", list_strategies},
                                        {"optimizers", list_optimizers},
                                        {"transports", list_transports}}};

int run_list(const base::Settings&, const std::string& topic) {
  std::vector<std::string> names;
  for (const Topic& each : kTopics) {
    if (topic == each.name) {
      each.print();
      return 0;
    }
    names.emplace_back(each.name);
  }
  if (topic.empty())
    base::user_error("say what to list: models, datasets, augmentations, strategies, optimizers or transports");
  base::user_error("{}", base::unknown_name("list of", topic, names));
}

}  // namespace

Verb list_verb() {
  return {"list",
          "list models, datasets, augmentations, strategies, optimizers or transports",
          "Example:\n  trireme list models",
          {},
          "what",
          run_list};
}

}  // namespace trireme::cli
