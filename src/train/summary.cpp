#include "train/summary.h"

#include <fmt/core.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "base/text.h"
#include "observe/resources.h"

namespace trireme::train {
namespace {

using Json = nlohmann::ordered_json;

Json number(double value) { return std::isfinite(value) ? Json(value) : Json(nullptr); }

}  // namespace

void Seconds::add_step(const Seconds& step) {
  load += step.load;
  forward += step.forward;
  backward += step.backward;
  network += step.network;
  update += step.update;
  hidden_network += step.hidden_network;
}

double RunResult::samples_per_second() const {
  return samples_here > 0 ? static_cast<double>(samples_here) / seconds.stretches : 0;
}

std::string summary_json(const base::Settings& settings, const Experiment& e, const RunResult& r) {
  const Seconds& s = r.seconds;
  Json json{{"model", settings.text("model")},
            {"data", settings.text("data")},
            {"strategy", settings.text("strategy")},
            {"run", r.run},
            {"steps", r.progress.step},
            {"epochs", r.progress.epoch},
            {"batch", e.batch},
            {"oars", e.oars},
            {"threads", e.threads},
            {"world", r.details.workers + r.details.servers},
            {"workers", r.details.workers},
            {"servers", r.details.servers},
            {"parameters", e.network.parameter_count()},
            {"train_loss", number(r.progress.train_loss)},
            {"train_accuracy", number(r.progress.train_accuracy)},
            {"test_loss", number(r.test.loss)},
            {"test_accuracy", number(r.test.accuracy)},
            {"stopped_early", r.stopped_early},
            {"weights_sha256", r.weights_sha256},
            {"samples_per_second", r.samples_per_second()},
            {"seconds",
             {{"total", s.total},
              {"load", s.load},
              {"forward", s.forward},
              {"backward", s.backward},
              {"network", s.network},
              {"update", s.update},
              {"hidden_network", s.hidden_network},
              {"evaluation", s.evaluation},
              {"checkpoint", s.checkpoint},
              {"whole_run", r.progress.seconds}}},
            {"peak_memory_bytes", static_cast<std::int64_t>(observe::peak_resident_bytes())}};
  const RunDetails& d = r.details;
  if (d.hand_overs > 0) json["switches"] = {{"count", d.hand_overs}, {"longest_seconds", d.longest_hand_over_seconds}};
  if (d.synchronisations > 0) json["synchronisations"] = d.synchronisations;
  if (!d.staleness.empty()) {
    Json& histogram = json["staleness"] = Json::object();
    for (const auto& [pushes, count] : d.staleness) histogram[std::to_string(pushes)] = count;
  }
  if (!d.lost.empty()) json["lost"] = d.lost;
  if (d.workers + d.servers == 1) return json.dump();
  Json& workers = json["per_worker"] = Json::array();
  for (std::size_t w = 0; w < d.seconds.size(); ++w)
    workers.push_back({{"host", d.hosts[w]},
                       {"threads", d.threads[w]},
                       {"oars", w < d.oars.size() ? Json(d.oars[w]) : Json(nullptr)},
                       {"seconds",
                        {{"load", d.seconds[w].load},
                         {"forward", d.seconds[w].forward},
                         {"backward", d.seconds[w].backward},
                         {"network", d.seconds[w].network},
                         {"update", d.seconds[w].update},
                         {"hidden_network", d.seconds[w].hidden}}},
                       {"sent_bytes", d.traffic[w].sent},
                       {"received_bytes", d.traffic[w].received},
                       {"caused_waiting_seconds", d.caused_waiting_seconds[w]}});
  for (const Bytes& bytes : d.server_traffic)
    json["per_server"].push_back({{"sent_bytes", bytes.sent}, {"received_bytes", bytes.received}});
  json["lateness"] = d.lateness;
  return json.dump();
}

namespace {

void print_workers(Console& console, const RunDetails& d) {
  console.line("");
  console.line(
      "worker  host              threads  oars      load   forward  backward   network    update    hidden      sent  "
      "received");
  for (std::size_t w = 0; w < d.seconds.size(); ++w) {
    const strategy::StepSeconds& s = d.seconds[w];
    std::string line = fmt::format("{:>6}  {:<16}  {:>7}  {:>4}", w, d.hosts[w].substr(0, 16), d.threads[w],
                                   w < d.oars.size() ? std::to_string(d.oars[w]) : "-");
    for (const double seconds : {s.load, s.forward, s.backward, s.network, s.update, s.hidden})
      line += fmt::format("  {:>8}", base::human_seconds(seconds));
    for (const std::uint64_t bytes : {d.traffic[w].sent, d.traffic[w].received})
      line += fmt::format("  {:>8}", base::human_bytes(static_cast<double>(bytes)));
    console.line(line);
  }
  for (std::size_t s = 0; s < d.server_traffic.size(); ++s)
    console.line(fmt::format("server {} sent {} and received {}", s,
                             base::human_bytes(static_cast<double>(d.server_traffic[s].sent)),
                             base::human_bytes(static_cast<double>(d.server_traffic[s].received))));
  for (const std::string& who : d.lost) console.line(fmt::format("{} was lost on the way", who));
  if (!d.lateness.empty()) console.line(d.lateness);
  if (d.synchronisations > 0) console.line(fmt::format("replicas were averaged {} times", d.synchronisations));
  if (!d.staleness.empty()) {
    std::int64_t pushes = 0, sum = 0;
    for (const auto& [others, count] : d.staleness) pushes += count, sum += others * count;
    console.line(fmt::format("staleness: {:.2f} pushes of others between pull and push on average, at most {}",
                             static_cast<double>(sum) / static_cast<double>(pushes), d.staleness.rbegin()->first));
  }
}

}  // namespace

void print_summary(Console& console, const RunResult& r) {
  console.line("");
  if (std::isnan(r.test.accuracy))
    console.line(fmt::format("test loss  {:.6f}", r.test.loss));
  else
    console.line(fmt::format("test accuracy  {:.2f} %  (loss {:.4f})", 100 * r.test.accuracy, r.test.loss));
  if (r.steps_here > 0) {
    console.line(fmt::format("{:.0f} samples/s over {} steps; the time went to", r.samples_per_second(), r.steps_here));
    const Seconds& s = r.seconds;
    for (const auto& [name, seconds] : {std::pair{"load", s.load},
                                        {"forward", s.forward},
                                        {"backward", s.backward},
                                        {"network", s.network},
                                        {"update", s.update},
                                        {"evaluation", s.evaluation},
                                        {"checkpoint", s.checkpoint},
                                        {"total", s.total}})
      console.line(
          fmt::format("  {:<11}{:>10}  {:>5.1f} %", name, base::human_seconds(seconds), 100 * seconds / s.total));
  }
  if (r.details.workers > 1 && r.steps_here > 0) print_workers(console, r.details);
  console.line(fmt::format("weights {}", r.weights_sha256));
  console.line(fmt::format("run folder {}", r.run));
}

}  // namespace trireme::train
