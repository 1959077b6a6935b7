#include "cli/bench_peer.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <tuple>

#include "models/zoo.h"

namespace trireme::cli {
namespace {

using Json = nlohmann::json;

constexpr double kDeadlineSeconds = 600;
constexpr int kTrialSteps = 3;

Json ask(peer::Script& process, const Json& request) {
  return Json::parse(process.ask(request.dump(), kDeadlineSeconds));
}

train::StepSeconds steps(peer::Script& process, int count) {
  const Json answer = ask(process, {{"do", "run"}, {"steps", count}});
  return {answer.at("forward"), answer.at("backward"), answer.at("update"), answer.at("total")};
}

}  // namespace

std::pair<double, double> try_in_turns(const std::function<double(int steps)>& one,
                                       const std::function<double(int steps)>& other, double step_seconds) {
  constexpr int kRounds = 3;
  const bool is_slow = step_seconds > kSlowSeconds;
  const int rounds = is_slow ? 1 : kRounds;
  const int steps = is_slow ? 1 : std::max(kTrialSteps, steps_of_a_round(step_seconds));
  std::vector<double> of_one, of_other;
  for (int round = 0; round < rounds; ++round) {
    of_one.push_back(one(steps));
    of_other.push_back(other(steps));
  }
  return {median(of_one), median(of_other)};
}

PytorchStep::PytorchStep(const BenchCase& bench, const std::string& python, const std::string& script,
                         const base::CorePlan& cores)
    : python_(python), script_(script), cpus_(cores.cpus) {
  try_way(bench, "nchw", false);
  for (const tensor::Shape& shape : models::find_model(bench.model).inputs)
    if (shape.rank() == 3) {  // the other layout is one of images
      try_way(bench, "channels_last", false);
      break;
    }
  if (!base::cpus_to_pin(cores, bench.threads).empty()) try_way(bench, layout_, true);
}

void PytorchStep::try_way(const BenchCase& bench, const std::string& layout, bool pin) {
  const models::ModelInfo& model = models::find_model(bench.model);
  Json inputs = Json::array();
  for (const tensor::Shape& shape : model.inputs) inputs.push_back(shape.sizes());
  std::vector<std::string> arguments{std::to_string(bench.threads)};
  if (pin) arguments.emplace_back("pin");
  auto process = std::make_unique<peer::Script>(peer::pytorch().title, python_, script_, arguments, cpus_);
  const Json ready = ask(*process, {{"do", "prepare"},
                                    {"model", bench.model},
                                    {"inputs", inputs},
                                    {"classes", model.classes},
                                    {"batch", bench.batch},
                                    {"layout", layout}});
  const bool is_slow = steps(*process, 1).total > kSlowSeconds;
  if (!is_slow) steps(*process, kTrialSteps);
  const double bytes = ask(*process, {{"do", "memory"}}).at("bytes");
  const std::string optimizer = ask(*process, {{"do", "tune"}}).at("optimizer");
  double seconds = steps(*process, is_slow ? 1 : kTrialSteps).total;
  memory_bytes_ = process_ ? std::min(memory_bytes_, bytes) : bytes;
  if (process_) {
    const auto run = [](peer::Script& way) { return [&way](int count) { return steps(way, count).total; }; };
    std::tie(seconds_, seconds) = try_in_turns(run(*process_), run(*process), seconds);
    if (seconds >= seconds_) return;
  }
  seconds_ = seconds;
  version_ = ready.at("torch");
  layout_ = layout;
  blas_ = ready.at("blas");
  way_ = layout + ", " + optimizer + " SGD, BLAS " + blas_ + (pin ? ", pinned" : "");
  process_ = std::move(process);
}

train::StepSeconds PytorchStep::run(int count) { return steps(*process_, count); }

}  // namespace trireme::cli
