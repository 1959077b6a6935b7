// The training step of zoo networks at the studies' local batch, on 1 and 2 threads: rowing all oars, summing,
// updating.
#include <benchmark/benchmark.h>

#include <numeric>

#include "crew/crew.h"
#include "models/init.h"
#include "models/zoo.h"
#include "optim/optimizer.h"

namespace {

using namespace trireme;

void step(benchmark::State& state, const char* model, std::int64_t batch) {
  const auto threads = static_cast<int>(state.range(0));
  const graph::Network network = models::build_model(model);
  crew::CrewOptions options;
  options.batch = batch;
  options.oars = threads;
  options.threads = threads;
  options.may_spin = true;
  crew::Crew crew(network, options);
  models::initialize(crew.network(), crew.space(), crew.weights(), "pytorch", 1);
  crew.refresh_weight_forms();
  const auto optimizer = optim::make_optimizer("sgd:lr=0.01,momentum=0.9");
  tensor::Buffer momentum(static_cast<std::size_t>(crew.space().floats()) * sizeof(float));

  std::vector<tensor::Buffer> inputs;
  crew::BatchView view{batch, {}, nullptr, {}};
  for (const int input : network.inputs()) {
    inputs.emplace_back(
        static_cast<std::size_t>(network.nodes()[static_cast<std::size_t>(input)].shape.count() * batch) *
        sizeof(float));
    for (std::size_t i = 0; i < inputs.back().span().size(); ++i)
      inputs.back().floats()[i] = static_cast<float>(i % 251) / 251.0f - 0.5f;
  }
  for (const auto& input : inputs) view.inputs.push_back(input.floats());
  const std::vector<float> target(static_cast<std::size_t>(batch), 1.0f);
  std::vector<std::int64_t> indices(static_cast<std::size_t>(batch));
  std::iota(indices.begin(), indices.end(), std::int64_t{0});
  view.target = target.data();
  view.indices = indices;

  optim::StepScalars scalars;
  scalars.lr = optimizer->lr();
  for (auto _ : state) {
    optimizer->prepare(scalars);
    const auto report = crew.row(view, {}, [&](const crew::Chunk& chunk, const float* gradient) {
      float* slot = momentum.floats() + chunk.offset;
      optimizer->update(crew.weights() + chunk.offset, gradient, std::span(&slot, 1), chunk.count, scalars, 0);
    });
    benchmark::DoNotOptimize(report.loss);
    crew.finish_step();
    ++scalars.step;
  }
  state.SetItemsProcessed(state.iterations() * batch);
  state.counters["arena_MB"] = 1e-6 * static_cast<double>(crew.arena_bytes());
}

void register_all() {
  struct Row {
    const char* model;
    std::int64_t batch;
  };
  for (const Row& row : {Row{"lenet5", 42},
                         {"mnist-cnn", 32},
                         {"alexnet", 42},
                         {"resnet18", 42},
                         {"resnet50", 42},
                         {"resnet20-cifar", 26},
                         {"resnet50-cifar", 26},
                         {"resnet18-cifar", 42},
                         {"resnet56v2-cifar", 26},
                         {"densenet40-12", 26},
                         {"redshift-cnn", 32},
                         {"landcover-cnn", 8}})
    benchmark::RegisterBenchmark(row.model, [row](benchmark::State& state) { step(state, row.model, row.batch); })
        ->ArgName("threads")
        ->Arg(1)
        ->Arg(2)
        ->Unit(benchmark::kMillisecond)
        ->UseRealTime()
        ->MinTime(0.5);
}

}  // namespace

int main(int argc, char** argv) {
  register_all();
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
}
