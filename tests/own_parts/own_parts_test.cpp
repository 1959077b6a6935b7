// The worked examples of CONTRIBUTING.md, as rows of a registry in real runs.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <numeric>

#include "base/system/files.h"
#include "comm/builtin_transports.h"
#include "models/layer_builder.h"
#include "models/model.h"
#include "own_parts/optimizer.h"
#include "own_parts/reader.h"
#include "own_parts/sink.h"
#include "own_parts/strategy.h"
#include "own_parts/transport.h"
#include "strategy/builtin_strategies.h"
#include "strategy/cluster.h"
#include "strategy/fake_replica.h"
#include "support/temporary_folder.h"
#include "train/builtin_registry.h"
#include "train/experiment/options.h"
#include "train/run/job.h"

namespace trireme::own_parts {
namespace {

using Options = std::map<std::string, std::string>;

train::Registry own_registry() {
  train::Registry registry = train::builtin_registry();
  registry.models.add({.name = "one-layer",
                       .summary = "one dense layer",
                       .inputs = {{1, 2, 2}},
                       .batch = 16,
                       .make = [](const models::ModelRequest& data) {
                         graph::Network net("one-layer");
                         models::LayerBuilder layers(net);
                         const graph::Value pixels = layers.flatten("flatten", net.input("image", data.inputs[0]));
                         net.finish(layers.dense("fc", pixels, data.classes), models::loss_for(data));
                         return net;
                       }});
  registry.strategies.add(plain_row());
  registry.optimizers.add(signsgd_row());
  registry.readers.formats.add(tiny_row());
  registry.transports.add(secure_transport());
  registry.sinks.add(losses_row());
  return registry;
}

class OwnParts : public testing::Test {
 protected:
  void SetUp() override {
    std::string records;
    for (int i = 0; i < 80; ++i) {  // bright above: class 1, bright below: class 0
      const char bright = static_cast<char>(200 - i), dark = static_cast<char>(i % 20);
      records += i % 2 == 0 ? std::string{0, dark, dark, bright, bright} : std::string{1, bright, bright, dark, dark};
    }
    base::write_text_atomically(data(), records);
  }
  std::string data() const { return (folder_.path() / "records.tiny").string(); }
  base::fs::path run() const { return folder_.path() / "run"; }
  // The summary of a run in this process, in a folder that is new each time.
  nlohmann::json trained(const Options& more) const {
    base::fs::remove_all(run());
    Options options{{"model", "one-layer"}, {"data", data()}, {"batch", "16"},         {"steps", "100"},
                    {"threads", "2"},       {"oars", "4"},    {"run", run().string()}, {"json", "yes"}};
    base::Settings settings(train::train_options());
    for (const auto& [name, value] : more) options[name] = value;
    for (const auto& [name, value] : options) settings.set(name, value);
    return nlohmann::json::parse(train::train(registry_, settings));
  }

 private:
  test::TemporaryFolder folder_;
  train::Registry registry_ = own_registry();
};

TEST_F(OwnParts, ReaderAndOptimizerLearn) {
  const auto summary = trained({{"optimizer", "signsgd:lr=0.01"}});
  EXPECT_EQ(summary["test_accuracy"], 1);
}

TEST_F(OwnParts, StrategyRuns) {
  EXPECT_EQ(trained({{"strategy", "plain"}})["weights_sha256"], trained({})["weights_sha256"]);
}

// The weights of three workers, threads here, after some steps.
std::vector<std::vector<float>> weights_of_three(const strategy::StrategyConfigPtr& config) {
  constexpr int kWorkers = 3, kOars = 8;
  constexpr std::int64_t kSteps = 4, kSamples = 21;
  const strategy::RoleMap roles{kWorkers, 0, false};
  std::vector<comm::Group> groups = comm::inproc_groups(kWorkers, 20);
  std::vector<std::vector<float>> weights(kWorkers);
  const auto errors = strategy::run_cluster(
      groups, roles,
      [&](comm::Group& group, int w) {
        strategy::FakeReplica replica(kOars);
        strategy::Updater updater(replica, optim::make_optimizer("sgd:lr=0.5"), 0);
        strategy::OarAssignment assignment({strategy::AssignBy::even, {}}, kOars, std::vector<int>(kWorkers, 1), 1, 1);
        tensor::Buffer memory(8 * static_cast<std::size_t>(replica.space().floats()) * sizeof(float));
        const strategy::WorkerContext worker{
            replica, updater, group, roles, w, assignment, {memory.floats(), memory.bytes() / sizeof(float)}};
        const auto own = config->make_worker_side(worker);
        std::vector<std::int64_t> indices(kSamples);
        for (std::int64_t step = 1; step <= kSteps; ++step) {
          std::iota(indices.begin(), indices.end(), step * kSamples);
          strategy::Work work;
          work.batch.samples = kSamples;
          work.batch.indices = indices;
          work.oars = assignment.share(step, w);
          work.step = step;
          work.lr = 0.5;
          (void)own->step(work);
        }
        own->end_interval();
        weights[static_cast<std::size_t>(w)].assign(replica.weights(), replica.weights() + replica.space().floats());
      },
      [](comm::Group&, int) {});
  for (const std::string& error : errors) EXPECT_EQ(error, "");
  return weights;
}

TEST(OwnStrategy, HasTheBitsOfAllReduce) {
  const strategy::StrategyRegistry strategies = strategy::builtin_strategies();
  const auto config = [](const strategy::StrategyRow& row) {
    base::Spec spec("strategy", row.name);
    return row.configure(spec, {3, {}});
  };
  EXPECT_EQ(weights_of_three(config(plain_row())), weights_of_three(config(strategies.get("allreduce"))));
}

TEST_F(OwnParts, SinkWritesALinePerStep) {
  (void)trained({{"steps", "3"}});
  const std::string text = base::read_text((run() / "losses.csv").string());
  EXPECT_EQ(std::ranges::count(text, '\n'), 4) << text;
  EXPECT_TRUE(text.starts_with("step,loss\n1,")) << text;
}

TEST_F(OwnParts, TransportIsOfferedAndAlwaysEncrypts) {
  const comm::Transports transports = own_registry().transports;
  EXPECT_EQ(comm::offered_names(transports, &comm::Offers::train).back(), "secure");
  EXPECT_TRUE(transports.get("secure").join(comm::JoinRequest{}).world() == 1);
}

}  // namespace
}  // namespace trireme::own_parts
