#include "bench/peer/bench_peer.h"

#include <nlohmann/json.hpp>

#include "bench/peer/peer_report.h"
#include "graph/description/network_json.h"
#include "models/files/model_file.h"
#include "peer/script.h"

namespace trireme::bench {
namespace {

using Json = nlohmann::json;

constexpr double kDeadlineSeconds = 600;

// One step.py process.
class StepRunner : public PeerRunner {
 public:
  StepRunner(const BenchCase& bench, const PeerWay& chosen, const Peer& peer, const std::vector<int>& cpus)
      : process_(peer::pytorch().title, peer.python, peer.script, arguments(bench, chosen), cpus,
                 chosen.allocator.environment()) {
    const models::ModelRow& model = *bench.info;
    Json inputs = Json::array();
    for (const tensor::Shape& shape : model.inputs) inputs.push_back(shape.sizes());
    Json request{{"do", "prepare"},
                 {"model", bench.model},
                 {"inputs", inputs},
                 {"classes", model.classes},
                 {"batch", bench.batch},
                 {"layout", chosen.layout},
                 {"in_place", chosen.in_place},
                 {"compiled", chosen.compiled},
                 {"dtype", chosen.dtype}};
    if (models::is_model_file(bench.model)) request["network"] = Json::parse(graph::network_json(network_of(model)));
    const Json ready = ask(request);
    expect_available(ready.dump(), chosen.allocator);
    version = ready.at("torch");
    blas = ready.at("blas");
    if (seconds_of_step(1) <= kSlowSeconds) seconds_of_step(kWarmUpSteps);
    memory_bytes = ask({{"do", "memory"}}).at("bytes");
    optimizer = ask({{"do", "tune"}}).at("optimizer");
  }

  double seconds_of_step(int steps) override { return run(steps).total; }

  train::TimedStep run(int steps) {
    const Json answer = ask({{"do", "run"}, {"steps", steps}});
    train::TimedStep step{.phases = {}, .total = answer.at("total")};
    for (const observe::StepPhase& phase : observe::kStepPhases)  // a step on one fixed batch neither loads nor sends
      step.phases.*phase.seconds = answer.value(phase.name, 0.0);
    return step;
  }

 private:
  static constexpr int kWarmUpSteps = 3;

  static std::vector<std::string> arguments(const BenchCase& bench, const PeerWay& way) {
    std::vector<std::string> words{std::to_string(bench.threads)};
    if (way.pinned) words.emplace_back("pin");
    return words;
  }
  Json ask(const Json& request) { return Json::parse(process_.ask(request.dump(), kDeadlineSeconds)); }

  peer::Script process_;
};

train::TimedStep run(PeerRunner& runner, int steps) { return dynamic_cast<StepRunner&>(runner).run(steps); }

}  // namespace

PytorchStep::PytorchStep(const BenchCase& bench, const Peer& peer, const base::Settings& settings,
                         const base::CorePlan& cores) {
  const bool may_pin = !base::cpus_to_pin(cores, bench.threads).empty();
  ways_ = find_fastest_ways(ways_to_try(settings, peer.python, bench.info->inputs, may_pin), [&](const PeerWay& way) {
    return std::make_unique<StepRunner>(bench, way, peer, cores.cpus);
  });
}

train::TimedStep PytorchStep::run_float32(int steps) { return run(*ways_.float32, steps); }
train::TimedStep PytorchStep::run_bf16(int steps) { return run(*ways_.bf16, steps); }

}  // namespace trireme::bench
