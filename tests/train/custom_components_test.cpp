// Rows that a program adds to the registry are used by a run like those that the program comes with.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "base/error.h"
#include "models/layer_builder.h"
#include "support/temporary_folder.h"
#include "train/builtin_registry.h"
#include "train/experiment/options.h"
#include "train/run/job.h"

namespace trireme::train {
namespace {

// What reached the run.
struct Used {
  int networks = 0, strategies = 0, optimizers = 0;
  std::vector<std::int64_t> steps{};  // that the sink heard of
};

class CountingSink : public observe::EventSink {
 public:
  explicit CountingSink(Used& used) : used_(used) {}
  bool is_record() const override { return true; }
  void on(const observe::Event& event) override {
    if (const auto* step = std::get_if<observe::StepDone>(&event)) used_.steps.push_back(step->step);
  }

 private:
  Used& used_;
};

Registry registry_with(Used& used) {
  Registry registry = builtin_registry();
  registry.models.add({"my-net", "one layer", {{1, 8, 8}}, 10, 16, [&](const models::ModelRequest& request) {
                         ++used.networks;
                         graph::Network net("my-net");
                         models::LayerBuilder layers(net);
                         const graph::Value x = layers.flatten("flatten", net.input("image", request.inputs[0]));
                         net.finish(layers.dense("fc", x, request.classes), models::loss_for(request));
                         return net;
                       }});
  const strategy::StrategyRow single = registry.strategies.get("single");
  registry.strategies.add({"my-way", "single, counted", {}, [&, single](base::Spec& spec, const auto& workers) {
                             ++used.strategies;
                             return single.configure(spec, workers);
                           }});
  const optim::OptimizerRow sgd = registry.optimizers.get("sgd");
  registry.optimizers.add({"my-rule", "sgd, counted", [&, sgd](base::Spec& spec) {
                             ++used.optimizers;
                             return sgd.make(spec);
                           }});
  registry.sinks.add(
      {"my-sink", "counts steps", [&](const SinkContext&) { return std::make_unique<CountingSink>(used); }});
  return registry;
}

base::Settings settings_of(const base::fs::path& run, const std::string& strategy) {
  base::Settings settings(train_options());
  for (const auto& [name, value] : std::map<std::string, std::string>{{"model", "my-net"},
                                                                      {"data", "synthetic"},
                                                                      {"train-samples", "64"},
                                                                      {"test-samples", "16"},
                                                                      {"epochs", "2"},
                                                                      {"threads", "1"},
                                                                      {"strategy", strategy},
                                                                      {"optimizer", "my-rule:lr=0.1"},
                                                                      {"json", "yes"},
                                                                      {"run", run.string()}})
    settings.set(name, value);
  return settings;
}

TEST(OwnRows, AreUsedByARun) {
  const test::TemporaryFolder folder;
  Used used;
  const Registry registry = registry_with(used);
  const auto summary = nlohmann::json::parse(train(registry, settings_of(folder.path() / "r", "my-way")));
  EXPECT_EQ(summary["steps"], 8);
  EXPECT_GT(used.networks, 0);
  EXPECT_GT(used.strategies, 0);
  EXPECT_GT(used.optimizers, 0);
  EXPECT_EQ(used.steps, (std::vector<std::int64_t>{1, 2, 3, 4, 5, 6, 7, 8}));
}

TEST(OwnRows, AreSuggested) {
  const test::TemporaryFolder folder;
  Used used;
  const Registry registry = registry_with(used);
  try {
    (void)train(registry, settings_of(folder.path() / "r", "my-wya"));
    FAIL() << "an unknown strategy was taken";
  } catch (const base::Error& error) {
    EXPECT_NE(std::string(error.what()).find("my-way"), std::string::npos) << error.what();
  }
  EXPECT_FALSE(base::fs::exists(folder.path() / "r"));
}

}  // namespace
}  // namespace trireme::train
