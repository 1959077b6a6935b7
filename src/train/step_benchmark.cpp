#include "train/step_benchmark.h"

#include <algorithm>
#include <numeric>

#include "base/index.h"
#include "base/rng.h"
#include "base/system/clock.h"
#include "strategy/single/single.h"
#include "train/run_folder/start_weights.h"

namespace trireme::train {
namespace {

constexpr std::uint64_t kSeed = 1;

using base::at;

}  // namespace

StepBenchmark::StepBenchmark(const graph::Network& network, const crew::CrewOptions& options)
    : crew_(network, options),
      updater_(crew_, optim::make_optimizer("sgd:lr=0.01,momentum=0.9"), 0),
      single_(strategy::make_single(crew_, updater_)),
      indices_(at(options.batch)) {
  fill_fresh_weights(crew_, "pytorch", kSeed);
  const std::int64_t batch = options.batch;
  const base::CounterRng random(kSeed, base::Purpose::probe);
  for (const int input : network.inputs()) {
    const std::int64_t floats = network.nodes()[at(input)].shape.count() * batch;
    inputs_.emplace_back(at(floats) * sizeof(float));
    for (std::int64_t i = 0; i < floats; ++i)
      inputs_.back().floats()[i] = random.uniform(static_cast<std::uint64_t>(i)) - 0.5f;
  }
  const std::int64_t classes = network.nodes()[at(network.prediction())].shape.count();
  target_.resize(at(network.nodes()[at(network.target())].shape.count() * batch));
  for (std::size_t i = 0; i < target_.size(); ++i)
    target_[i] = static_cast<float>(random.below(i, static_cast<std::uint64_t>(classes)));
  std::iota(indices_.begin(), indices_.end(), std::int64_t{0});
  view_.samples = batch;
  for (const tensor::Buffer& input : inputs_) view_.inputs.push_back(input.floats());
  view_.target = target_.data();
  view_.indices = indices_;
}

observe::Profile StepBenchmark::take_profile() {
  observe::Profile profile = crew_.profile(updater_.cost());
  crew_.clear_profile();
  return profile;
}

TimedStep StepBenchmark::run(int steps) {
  std::vector<TimedStep> taken;
  for (int i = 0; i < steps; ++i) {
    const std::int64_t start = base::now_ns();
    strategy::Work work;
    work.batch = view_;
    work.random = {kSeed, 0};
    work.step = ++step_;
    work.lr = updater_.optimizer().lr();
    const observe::StepSeconds phases = single_->step(work).seconds;
    taken.push_back({phases, base::seconds_since(start)});
  }
  const auto middle = taken.begin() + (steps - 1) / 2;
  std::nth_element(taken.begin(), middle, taken.end(),
                   [](const TimedStep& a, const TimedStep& b) { return a.total < b.total; });
  return *middle;
}

}  // namespace trireme::train
