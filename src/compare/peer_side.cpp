#include <nlohmann/json.hpp>

#include "compare/sides.h"

namespace trireme::compare {
namespace {

using Json = nlohmann::json;

constexpr double kDeadlineSeconds = 1800;

Json ask(peer::Pytorch& process, const Json& request) {
  return Json::parse(process.ask(request.dump(), kDeadlineSeconds));
}

}  // namespace

PeerSide::PeerSide(const std::string& python, const std::string& script, const std::string& folder, int threads)
    : folder_(folder),
      process_(
          std::make_unique<peer::Pytorch>(python, script, std::vector{std::to_string(threads)}, std::vector<int>{})) {}

Tensors PeerSide::prepare(const train::Experiment& experiment, const Tensors& weights, const std::string& optimizer) {
  const graph::Network& network = experiment.network;
  const auto shape_of = [&](int node) { return network.nodes()[static_cast<std::size_t>(node)].shape; };
  Json inputs = Json::array();
  for (const int node : network.inputs()) inputs.push_back(shape_of(node).sizes());
  store::write_safetensors(file("given"), weights);
  const Json answer = ask(*process_, {{"do", "prepare"},
                                      {"model", network.name()},
                                      {"inputs", inputs},
                                      {"classes", shape_of(network.prediction()).count()},
                                      {"weights", file("given")},
                                      {"optimizer", optimizer},
                                      {"results", file("found")}});
  version_ = answer.at("torch");
  return store::read_safetensors(file("found")).tensors;
}

Found PeerSide::step(const Feed& feed, double lr, bool shuffled) {
  store::write_safetensors(file("given"), feed.tensors);
  Json oars = Json::array();
  for (const base::Range& oar : feed.oars) oars.push_back({oar.begin, oar.end});
  const Json answer = ask(*process_, {{"do", "step"},
                                      {"batch", file("given")},
                                      {"oars", oars},
                                      {"lr", lr},
                                      {"shuffled", shuffled},
                                      {"results", file("found")}});
  return {answer.at("loss"), answer.at("penalty"), store::read_safetensors(file("found")).tensors};
}

store::SafetensorsFile PeerSide::layers(const Feed& feed) {
  store::write_safetensors(file("given"), feed.tensors);
  ask(*process_, {{"do", "layers"},
                  {"batch", file("given")},
                  {"oar", {feed.oars[0].begin, feed.oars[0].end}},
                  {"results", file("found")}});
  return store::read_safetensors(file("found"));
}

store::NamedTensor PeerSide::evaluate(const Feed& feed) {
  store::write_safetensors(file("given"), feed.tensors);
  ask(*process_, {{"do", "evaluate"}, {"batch", file("given")}, {"results", file("found")}});
  return store::read_safetensors(file("found")).tensors.at(0);
}

}  // namespace trireme::compare
