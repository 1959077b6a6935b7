#include "cli/bench_peer.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "models/zoo.h"

namespace trireme::cli {
namespace {

using Json = nlohmann::json;

constexpr double kDeadlineSeconds = 600;
constexpr int kFirstSteps = 3;

Json ask(peer::Pytorch& process, const Json& request) {
  return Json::parse(process.ask(request.dump(), kDeadlineSeconds));
}

train::StepSeconds steps(peer::Pytorch& process, int count) {
  const Json answer = ask(process, {{"do", "run"}, {"steps", count}});
  return {answer.at("forward"), answer.at("backward"), answer.at("update"), answer.at("total")};
}

}  // namespace

PytorchStep::PytorchStep(const BenchCase& bench, const std::string& python, const std::string& script,
                         const base::CorePlan& cores) {
  const graph::Network network = models::build_model(bench.model);
  Json inputs = Json::array();
  bool images = false;
  for (const int input : network.inputs()) {
    const auto& shape = network.nodes()[static_cast<std::size_t>(input)].shape;
    inputs.push_back(shape.sizes());
    images |= shape.rank() == 3;
  }
  const auto classes = network.nodes()[static_cast<std::size_t>(network.prediction())].shape.count();
  std::vector<std::string> arguments{std::to_string(bench.threads)};
  if (!base::cpus_to_pin(cores, bench.threads).empty()) arguments.emplace_back("pin");
  double fastest = 0;
  for (const char* layout : {"nchw", "channels_last"}) {
    if (!images && process_) break;  // the other layout is one of images
    auto process = std::make_unique<peer::Pytorch>(python, script, arguments, cores.cpus);
    const Json ready = ask(*process, {{"do", "prepare"},
                                      {"model", bench.model},
                                      {"inputs", inputs},
                                      {"classes", classes},
                                      {"batch", bench.batch},
                                      {"layout", layout}});
    steps(*process, kFirstSteps);
    const double bytes = ask(*process, {{"do", "memory"}}).at("bytes");
    const std::string optimizer = ask(*process, {{"do", "tune"}}).at("optimizer");
    const double seconds = std::min(steps(*process, kFirstSteps).total, steps(*process, kFirstSteps).total);
    memory_bytes_ = process_ ? std::min(memory_bytes_, bytes) : bytes;
    if (process_ && seconds >= fastest) continue;
    fastest = seconds;
    version_ = ready.at("torch");
    layout_ = layout;
    optimizer_ = optimizer;
    process_ = std::move(process);
  }
}

train::StepSeconds PytorchStep::run(int count) { return steps(*process_, count); }

}  // namespace trireme::cli
