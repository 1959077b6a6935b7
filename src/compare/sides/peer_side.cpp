#include <fmt/format.h>

#include <limits>
#include <nlohmann/json.hpp>

#include "compare/sides/sides.h"
#include "graph/description/network_json.h"

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

// Python would write NaN and Infinity, which are not JSON; peers send null for both.
double number_of(const Json& json) {
  return json.is_null() ? std::numeric_limits<double>::quiet_NaN() : json.get<double>();
}

// Reads a file and removes it: files may be large and lie in a memory file system.
store::SafetensorsFile take(const std::string& path) {
  store::SafetensorsFile file = store::read_safetensors(path);
  base::fs::remove(path);
  return file;
}

}  // namespace

PeerSide::PeerSide(const PeerInstallation& place, const base::fs::path& folder, const std::string& mark, int seed)
    : given_((folder / (mark + "-given.safetensors")).string()),
      results_((folder / (mark + "-results.safetensors")).string()),
      process_(place.system.title, place.python, place.script, {kThreads, std::to_string(seed)}, {}) {}

std::string PeerSide::perturbed_file(int number) const { return fmt::format("{}.{}", results_, number); }

std::string PeerSide::write(const Tensors& tensors) const {
  store::write_safetensors(given_, tensors);
  return given_;
}

void PeerSide::prepare(const train::Experiment& experiment, const Tensors& weights, const std::string& optimizer) {
  const graph::Network& network = experiment.network;
  const auto shape_of = [&](int node) { return network.nodes()[static_cast<std::size_t>(node)].shape; };
  Json inputs = Json::array();
  for (const int node : network.inputs()) inputs.push_back(shape_of(node).sizes());
  Json request{{"do", "prepare"},           {"model", network.name()},
               {"inputs", inputs},          {"classes", shape_of(network.prediction()).count()},
               {"weights", write(weights)}, {"optimizer", optimizer},
               {"results", results_}};
  if (!experiment.is_in_zoo) request["network"] = Json::parse(graph::network_json(network));
  const Json answer = ask(process_, request);
  version_ = answer.at("version");
  if (!answer.at("dropouts").is_null()) dropouts_ = answer["dropouts"].get<Rates>();
  base::fs::remove(given_);
}

Tensors PeerSide::prepared() const { return take(results_).tensors; }

void PeerSide::step(const Feed& feed, double lr, int perturbed) {
  Json files = Json::array();
  for (int number = 0; number < perturbed; ++number) files.push_back(perturbed_file(number));
  const Json answer = ask(process_, {{"do", "step"},
                                     {"batch", write(feed.tensors)},
                                     {"oars", oars_of(feed)},
                                     {"lr", lr},
                                     {"perturbed", files},
                                     {"results", results_}});
  const auto losses_in = [](const Json& json) {
    return Losses{number_of(json.at("loss")), number_of(json.at("penalty"))};
  };
  losses_ = losses_in(answer);
  perturbed_.clear();
  for (const Json& one : answer.at("perturbed")) perturbed_.push_back(losses_in(one));
  digests_ = answer.at("digests").get<std::map<std::string, std::uint32_t>>();
}

Found PeerSide::found() { return {losses_.loss, losses_.penalty, take(results_).tensors}; }

Found PeerSide::perturbed(int number) {
  const Losses& losses = perturbed_.at(static_cast<std::size_t>(number));
  return {losses.loss, losses.penalty, take(perturbed_file(number)).tensors};
}

void PeerSide::train(const Feed& feed, double lr) {
  ask(process_, {{"do", "step"},
                 {"batch", write(feed.tensors)},
                 {"oars", oars_of(feed)},
                 {"lr", lr},
                 {"perturbed", Json::array()},
                 {"results", ""}});
}

Found PeerSide::update(const Tensors& gradients, double lr, double max_norm) {
  const Json answer = ask(
      process_,
      {{"do", "update"}, {"gradients", write(gradients)}, {"lr", lr}, {"max_norm", max_norm}, {"results", results_}});
  return {0, number_of(answer.at("penalty")), take(results_).tensors};
}

std::optional<std::vector<double>> PeerSide::learning_rates(const std::string& schedule, double lr, std::int64_t steps,
                                                            std::int64_t steps_per_epoch) {
  const Json answer = ask(process_, {{"do", "learning_rates"},
                                     {"schedule", schedule},
                                     {"lr", lr},
                                     {"steps", steps},
                                     {"steps_per_epoch", steps_per_epoch}});
  if (answer.at("rates").is_null()) return std::nullopt;
  return answer["rates"].get<std::vector<double>>();
}

Tensors PeerSide::normalize(const Tensors& given) {
  ask(process_, {{"do", "normalize"}, {"given", write(given)}, {"results", results_}});
  return take(results_).tensors;
}

std::string PeerSide::sha256_of(const Feed& feed) {
  return ask(process_, {{"do", "hash"}, {"batch", write(feed.tensors)}}).at("sha256");
}

PeerSide::Layers PeerSide::layers(const Feed& feed) {
  const Json answer = ask(process_, {{"do", "layers"},
                                     {"batch", write(feed.tensors)},
                                     {"oar", {feed.oars[0].begin, feed.oars[0].end}},
                                     {"results", results_}});
  return {take(results_), number_of(answer.at("loss"))};
}

Tensors PeerSide::probe(const Tensors& inputs) {
  ask(process_, {{"do", "probe"}, {"inputs", write(inputs)}, {"results", results_}});
  return take(results_).tensors;
}

store::NamedTensor PeerSide::evaluate(const Feed& feed) {
  ask(process_, {{"do", "evaluate"}, {"batch", write(feed.tensors)}, {"results", results_}});
  return take(results_).tensors.at(0);
}

}  // namespace trireme::compare
