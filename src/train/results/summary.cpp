#include "train/results/summary.h"

#include <fmt/core.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "base/text/text.h"
#include "observe/resources.h"
#include "train/results/finite_number.h"
#include "train/results/score_report.h"

namespace trireme::train {
namespace {

using OrderedJson = nlohmann::ordered_json;

void add_times(OrderedJson& json, const observe::StepSeconds& seconds) {
  for (const observe::StepTime& time : observe::kStepTimes) json[time.name] = seconds.*time.seconds;
}

// Whole bytes; shares with four digits.
OrderedJson cluster_json(const observe::ClusterUse& use) {
  const auto share = [](double value) { return finite_number<OrderedJson>(std::round(1e4 * value) / 1e4); };
  const auto bytes = [](double value) { return static_cast<std::int64_t>(value); };
  return {{"hosts", use.hosts},
          {"cores", bytes(use.cores)},
          {"cpu_share", share(use.cpu_share)},
          {"cpu_share_of_run", share(use.cpu_share_of_run)},
          {"network_bytes", bytes(use.network_bytes)},
          {"network_peak_bytes_per_second", bytes(use.network_peak_bytes_per_second)},
          {"memory_peak_bytes", bytes(use.memory_peak_bytes)},
          {"memory_peak_of_run_bytes", bytes(use.memory_peak_of_run_bytes)}};
}

// "cluster: 16 cores on 4 hosts, CPU 68 % (this run 65 %), network peak 65.0 MB/s, memory peak 13.4 GB (this run 9.1
// GB)"
std::string cluster_line(const observe::ClusterUse& use) {
  std::string line = "cluster: ";
  if (use.cores > 0) line += base::counted(static_cast<std::int64_t>(use.cores), "core") + " on ";
  line += base::counted(use.hosts, "host");
  const std::string own =
      std::isfinite(use.cpu_share_of_run) ? fmt::format("{:.0f} %", 100 * use.cpu_share_of_run) : "-";
  if (std::isfinite(use.cpu_share)) line += fmt::format(", CPU {:.0f} % (this run {})", 100 * use.cpu_share, own);
  line += fmt::format(", network peak {}/s", base::human_bytes(use.network_peak_bytes_per_second));
  if (use.memory_peak_bytes > 0) line += ", memory peak " + base::human_bytes(use.memory_peak_bytes);
  return line + fmt::format(" (this run {})", base::human_bytes(use.memory_peak_of_run_bytes));
}

OrderedJson best_json(const RunResult& r) {
  if (!r.best_step) return nullptr;
  return {{"step", *r.best_step}, {"chosen_on", r.best_on == BestOn::test ? "test" : "validation"}};
}

}  // namespace

double RunResult::samples_per_second() const {
  return samples_here > 0 ? static_cast<double>(samples_here) / seconds.stepping : 0;
}

std::string summary_json(const base::Settings& settings, const Experiment& e, const RunResult& r) {
  OrderedJson seconds{{"total", r.seconds.total}};
  add_times(seconds, r.seconds.steps);
  seconds["evaluation"] = r.seconds.evaluation;
  seconds["checkpoint"] = r.seconds.checkpoint;
  seconds["whole_run"] = r.progress.seconds;
  OrderedJson json{{"model", settings.text("model")},
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
                   {"train_loss", finite_number<OrderedJson>(r.progress.train_loss)},
                   {"train_accuracy", finite_number<OrderedJson>(r.progress.train_accuracy)},
                   {"test_loss", finite_number<OrderedJson>(r.test.loss)},
                   {"test_accuracy", finite_number<OrderedJson>(r.test.accuracy)},
                   {"stopped_early", r.stopped_early},
                   {"best", best_json(r)},
                   {"weights_sha256", r.weights_sha256},
                   {"samples_per_second", r.samples_per_second()},
                   {"seconds", seconds},
                   {"peak_memory_bytes", static_cast<std::int64_t>(observe::peak_resident_bytes())}};
  for (const observe::Score& score : r.test.scores.named())
    json["test_" + score.name] = finite_number<OrderedJson>(score.value);
  const data::DataSpec& spec = e.test->spec();
  if (spec.target != data::TargetKind::classes)
    json[std::string("test_") + data::target_name(spec.target)] =
        OrderedJson::parse(each_score_json(spec, r.test.scores));
  const RunDetails& d = r.details;
  if (d.resources) json["cluster"] = cluster_json(*d.resources);
  if (d.hand_overs > 0) json["switches"] = {{"count", d.hand_overs}, {"longest_seconds", d.longest_hand_over_seconds}};
  if (d.synchronisations > 0) json["synchronisations"] = d.synchronisations;
  if (!d.staleness.empty()) {
    OrderedJson& histogram = json["staleness"] = OrderedJson::object();
    for (const auto& [pushes, count] : d.staleness) histogram[std::to_string(pushes)] = count;
  }
  if (!d.lost.empty()) json["lost"] = d.lost;
  if (d.workers + d.servers == 1) return json.dump();
  OrderedJson& workers = json["per_worker"] = OrderedJson::array();
  for (std::size_t w = 0; w < d.seconds.size(); ++w) {
    OrderedJson times = OrderedJson::object();
    add_times(times, d.seconds[w]);
    workers.push_back({{"host", d.hosts[w]},
                       {"threads", d.threads[w]},
                       {"oars", w < d.oars.size() ? OrderedJson(d.oars[w]) : OrderedJson(nullptr)},
                       {"seconds", times},
                       {"sent_bytes", d.traffic[w].sent},
                       {"received_bytes", d.traffic[w].received},
                       {"caused_waiting_seconds", d.caused_waiting_seconds[w]}});
  }
  for (const TrafficReply& bytes : d.server_traffic)
    json["per_server"].push_back({{"sent_bytes", bytes.sent}, {"received_bytes", bytes.received}});
  json["lateness"] = d.lateness;
  return json.dump();
}

namespace {

void add_workers(std::vector<std::string>& lines, const RunDetails& d) {
  lines.push_back("");
  lines.push_back(
      "worker  host              threads  oars      load   forward  backward   network    update    hidden      sent  "
      "received");
  for (std::size_t w = 0; w < d.seconds.size(); ++w) {
    std::string line = fmt::format("{:>6}  {:<16}  {:>7}  {:>4}", w, d.hosts[w].substr(0, 16), d.threads[w],
                                   w < d.oars.size() ? std::to_string(d.oars[w]) : "-");
    for (const observe::StepTime& time : observe::kStepTimes)
      line += fmt::format("  {:>8}", base::human_seconds(d.seconds[w].*time.seconds));
    for (const std::uint64_t bytes : {d.traffic[w].sent, d.traffic[w].received})
      line += fmt::format("  {:>8}", base::human_bytes(static_cast<double>(bytes)));
    lines.push_back(line);
  }
  for (std::size_t s = 0; s < d.server_traffic.size(); ++s)
    lines.push_back(fmt::format("server {} sent {} and received {}", s,
                                base::human_bytes(static_cast<double>(d.server_traffic[s].sent)),
                                base::human_bytes(static_cast<double>(d.server_traffic[s].received))));
  for (const std::string& who : d.lost) lines.push_back(fmt::format("{} was lost on the way", who));
  if (!d.lateness.empty()) lines.push_back(d.lateness);
  if (d.synchronisations > 0)
    lines.push_back(fmt::format("replicas were averaged {}", base::counted(d.synchronisations, "time")));
  if (!d.staleness.empty()) {
    std::int64_t pushes = 0, sum = 0;
    for (const auto& [others, count] : d.staleness) pushes += count, sum += others * count;
    lines.push_back(fmt::format("staleness: {:.2f} pushes of others between pull and push on average, at most {}",
                                static_cast<double>(sum) / static_cast<double>(pushes), d.staleness.rbegin()->first));
  }
}

}  // namespace

std::vector<std::string> summary_lines(const data::DataSpec& spec, const RunResult& r) {
  std::vector<std::string> lines;
  lines.push_back("");
  lines.push_back("test " + headline(r.test) + " of the last weights");
  for (const std::string& line : value_table(spec, r.test.scores)) lines.push_back("  " + line);
  if (r.best_step)
    lines.push_back(fmt::format(
        "the best weights are those of step {}, chosen on the {}; eval and predict use them", *r.best_step,
        r.best_on == BestOn::test ? "test set itself, which makes its result for them optimistic" : "validation set"));
  if (r.steps_here > 0) {
    lines.push_back(fmt::format("{:.0f} samples/s over {}; the time went to", r.samples_per_second(),
                                base::counted(r.steps_here, "step")));
    const Seconds& s = r.seconds;
    const auto say = [&](const char* name, double seconds) {
      lines.push_back(
          fmt::format("  {:<11}{:>10}  {:>5.1f} %", name, base::human_seconds(seconds), 100 * seconds / s.total));
    };
    for (const observe::StepPhase& phase : observe::kStepPhases) say(phase.name, s.steps.*phase.seconds);
    say("evaluation", s.evaluation);
    say("checkpoint", s.checkpoint);
    say("total", s.total);
  }
  if (r.details.workers > 1 && r.steps_here > 0) add_workers(lines, r.details);
  if (r.details.resources && r.steps_here > 0) lines.push_back(cluster_line(*r.details.resources));
  lines.push_back(fmt::format("weights {}", r.weights_sha256));
  lines.push_back(fmt::format("run folder {}", r.run));
  return lines;
}

}  // namespace trireme::train
