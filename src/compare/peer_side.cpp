#include <nlohmann/json.hpp>

#include "compare/sides.h"

namespace trireme::compare {
namespace {

using Json = nlohmann::json;

constexpr double kDeadlineSeconds = 1800;
constexpr const char* kThreads = "1";

Json ask(peer::Script& process, const Json& request) {
  return Json::parse(process.ask(request.dump(), kDeadlineSeconds));
}

Json oars_of(const Feed& feed) {
  Json oars = Json::array();
  for (const base::Range& oar : feed.oars) oars.push_back({oar.begin, oar.end});
  return oars;
}

// The files may lie in memory, and be large.
store::SafetensorsFile take(const std::string& path) {
  store::SafetensorsFile file = store::read_safetensors(path);
  base::fs::remove(path);
  return file;
}

}  // namespace

PeerSide::PeerSide(const PeerPlace& place, const base::fs::path& folder, const std::string& mark)
    : given_((folder / (mark + "-given.safetensors")).string()),
      results_((folder / (mark + "-results.safetensors")).string()),
      output_((folder / (mark + "-output.safetensors")).string()),
      process_(place.system.title, place.python, place.script, {kThreads}, {}) {}

std::string PeerSide::write(const Tensors& tensors) const {
  store::write_safetensors(given_, tensors);
  return given_;
}

void PeerSide::prepare(const train::Experiment& experiment, const Tensors& weights, const std::string& optimizer) {
  const graph::Network& network = experiment.network;
  const auto shape_of = [&](int node) { return network.nodes()[static_cast<std::size_t>(node)].shape; };
  Json inputs = Json::array();
  for (const int node : network.inputs()) inputs.push_back(shape_of(node).sizes());
  version_ = ask(process_, {{"do", "prepare"},
                            {"model", network.name()},
                            {"inputs", inputs},
                            {"classes", shape_of(network.prediction()).count()},
                            {"weights", write(weights)},
                            {"optimizer", optimizer},
                            {"results", results_}})
                 .at("version");
  base::fs::remove(given_);
}

Tensors PeerSide::prepared() const { return take(results_).tensors; }

void PeerSide::step(const Feed& feed, double lr, bool shuffled) {
  const Json answer = ask(process_, {{"do", "step"},
                                     {"batch", write(feed.tensors)},
                                     {"oars", oars_of(feed)},
                                     {"lr", lr},
                                     {"shuffled", shuffled},
                                     {"results", results_}});
  loss_ = answer.at("loss");
  penalty_ = answer.at("penalty");
  ask(process_, {{"do", "evaluate"}, {"batch", given_}, {"results", output_}});
}

Found PeerSide::found() const {
  Found found{loss_, penalty_, take(results_).tensors};
  found.tensors.push_back(take(output_).tensors.at(0));
  return found;
}

void PeerSide::train(const Feed& feed, double lr) {
  ask(process_, {{"do", "step"},
                 {"batch", write(feed.tensors)},
                 {"oars", oars_of(feed)},
                 {"lr", lr},
                 {"shuffled", false},
                 {"results", ""}});
}

std::string PeerSide::sha256_of(const Feed& feed) {
  return ask(process_, {{"do", "hash"}, {"batch", write(feed.tensors)}}).at("sha256");
}

store::SafetensorsFile PeerSide::layers(const Feed& feed) {
  ask(process_, {{"do", "layers"},
                 {"batch", write(feed.tensors)},
                 {"oar", {feed.oars[0].begin, feed.oars[0].end}},
                 {"results", results_}});
  return take(results_);
}

store::NamedTensor PeerSide::evaluate(const Feed& feed) {
  ask(process_, {{"do", "evaluate"}, {"batch", write(feed.tensors)}, {"results", output_}});
  return take(output_).tensors.at(0);
}

}  // namespace trireme::compare
