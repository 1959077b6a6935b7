// The section of a report about one run.
#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <ctime>

#include "base/text/text.h"
#include "train/experiment/options.h"
#include "watch/records/run_difference.h"
#include "watch/report/html.h"
#include "watch/report/reported_run.h"
#include "watch/show/bars.h"

namespace trireme::watch {
namespace {

constexpr std::size_t kMostEpochRows = 60, kMostMatrixClasses = 20, kMostConfused = 15, kMostProcesses = 40;

std::string moment_text(double time) {
  if (!(time > 0 && time < 1e11)) return "";  // a year that is not printed with more than four digits
  const auto seconds = static_cast<std::time_t>(time);
  std::tm local{};
  localtime_r(&seconds, &local);
  return fmt::format("{:%Y-%m-%d %H:%M:%S}", local);
}

std::string configuration_of(const ReportedRun& each) {
  HtmlTable table({"option", "value"}, 2);
  for (const base::OptionSpec& option : train::train_options()) {
    const auto found = each.run.configuration.find(option.name);
    if (found == each.run.configuration.end() || found->second == option.otherwise || is_of_the_place(option.name))
      continue;
    if (option.value[0] == '\0' && found->second == "no") continue;
    table.add({std::string("--") + option.name, found->second});
  }
  std::vector<std::string> facts;
  const auto fact = [&](const char* name, const char* title) {
    if (const auto found = each.details.resolved.find(name); found != each.details.resolved.end())
      facts.push_back(fmt::format("{} {}", found->second, title));
  };
  fact("parameters", "parameters");
  fact("train_samples", "training samples");
  fact("validation_samples", "validation samples");
  fact("test_samples", "test samples");
  fact("batch", "samples in a batch");
  fact("oars", "oars");
  fact("steps_per_epoch", "steps in an epoch");
  fact("total_steps", "steps planned");
  std::string html;
  if (!table.is_empty()) html += table.text("Options that are not the default");
  if (!facts.empty()) html += html_paragraph(base::join(facts, ", ") + ".");
  return html;
}

std::string machines_of(const ReportedRun& each) {
  HtmlTable table({"process", "host", "threads"}, 2);
  for (std::size_t i = 0; i < std::min(each.details.processes.size(), kMostProcesses); ++i) {
    const ProcessDetail& process = each.details.processes[i];
    table.add({process.name, process.host, process.threads > 0 ? std::to_string(process.threads) : "–"});
  }
  std::string html;
  if (!table.is_empty()) html += table.text("Processes");
  if (each.details.processes.size() > kMostProcesses)
    html += html_paragraph(fmt::format("and {} more", each.details.processes.size() - kMostProcesses));
  std::vector<std::string> words;
  for (const char* name : {"cpu", "cores", "system", "isa", "onednn", "compiler", "trireme"})
    if (const auto found = each.details.machine.find(name);
        found != each.details.machine.end() && !found->second.empty())
      words.push_back(fmt::format("{}: {}", name, found->second));
  if (!words.empty()) html += html_paragraph("Host of the first process: " + base::join(words, "; ") + ".");
  return html;
}

std::string epochs_of(const ReportedRun& each) {
  const std::vector<EpochRecord>& epochs = each.run.epochs;
  if (epochs.empty()) return html_paragraph("No epoch has ended.");
  const auto has = [&](const auto& value) {
    return std::ranges::any_of(epochs, [&](const EpochRecord& epoch) { return std::isfinite(value(epoch)); });
  };
  const bool accuracy = has([](const EpochRecord& epoch) { return epoch.held_out_accuracy; });
  std::vector<std::string> scores;
  for (const std::string& name : score_names())
    if (std::ranges::any_of(epochs, [&](const EpochRecord& epoch) { return epoch.scores.contains(name); }))
      scores.push_back(name);
  const std::string set = epochs.back().is_validation ? "validation " : "test ";
  std::vector<std::string> head{"epoch", "step", "training loss"};
  if (accuracy) head.emplace_back("training accuracy");
  head.push_back(set + "loss");
  if (accuracy) head.push_back(set + "accuracy");
  for (const std::string& score : scores) head.push_back(score_title(score));
  head.insert(head.end(), {"learning rate", "seconds"});
  HtmlTable table(head, 0);
  const std::size_t every = (epochs.size() + kMostEpochRows - 1) / kMostEpochRows;
  for (std::size_t i = 0; i < epochs.size(); ++i) {
    if (i % every != 0 && i + 1 != epochs.size()) continue;
    const EpochRecord& epoch = epochs[i];
    std::vector<std::string> row{std::to_string(epoch.epoch + 1), std::to_string(epoch.step),
                                 number_cell(epoch.train_loss, "{:.4f}")};
    if (accuracy) row.push_back(share_cell(epoch.train_accuracy));
    row.push_back(number_cell(epoch.held_out_loss, "{:.4f}"));
    if (accuracy) row.push_back(share_cell(epoch.held_out_accuracy));
    for (const std::string& score : scores) {
      const auto found = epoch.scores.find(score);
      row.push_back(found == epoch.scores.end() ? "–" : fmt::format("{:.4g}", found->second));
    }
    row.insert(row.end(), {number_cell(epoch.lr, "{:.4g}"), seconds_cell(epoch.seconds)});
    table.add(std::move(row));
  }
  return table.text(every > 1 ? fmt::format("Every {}th of {} epochs, and the last", every, epochs.size()) : "Epochs");
}

std::string workers_of(const ReportedRun& each) {
  const std::vector<WorkerDetail>& workers = each.details.workers;
  if (workers.size() + each.details.lost_workers.size() < 2) return "";
  std::vector<std::string> head{"worker", "host"};
  for (const observe::StepTime& time : observe::kStepTimes)
    head.emplace_back(std::string(time.name) == "hidden_network" ? "hidden network" : time.name);
  head.insert(head.end(), {"made others wait", "steps", "oars", "sent", "received"});
  HtmlTable table(head, 2);
  Bars bars{"time of the workers", "seconds", {}, {}};
  for (const observe::StepPhase& phase : observe::kStepPhases) bars.parts.emplace_back(phase.name);
  bars.groups.push_back({"worker", {}});
  const auto add = [&](const std::string& name, const WorkerDetail& worker) {
    std::vector<std::string> row{name, worker.host};
    Bar bar{name, "", {}};
    for (const observe::StepTime& time : observe::kStepTimes) row.push_back(seconds_cell(worker.seconds.*time.seconds));
    for (const observe::StepPhase& phase : observe::kStepPhases) bar.parts.push_back(worker.seconds.*phase.seconds);
    row.insert(row.end(), {seconds_cell(worker.caused_seconds), worker.steps > 0 ? std::to_string(worker.steps) : "–",
                           worker.oars >= 0 ? std::to_string(worker.oars) : "–", bytes_cell(worker.sent_bytes),
                           bytes_cell(worker.received_bytes)});
    table.add(std::move(row));
    bars.groups[0].bars.push_back(std::move(bar));
  };
  for (std::size_t w = 0; w < workers.size(); ++w) add(std::to_string(w), workers[w]);
  for (const auto& [who, worker] : each.details.lost_workers) add("lost", worker);
  std::string html;
  if (bars.groups[0].bars.size() <= 12) html += html_figure(to_svg(bars), "Seconds of each worker by phase");
  html += table.text(each.details.workers_since_last_start ? "Workers, seconds since the last resume"
                                                           : "Workers, seconds of the whole run");
  if (!each.details.lateness.empty()) html += html_paragraph("Lateness: " + each.details.lateness + ".");
  return html;
}

std::string staleness_of(const ReportedRun& each) {
  const auto& staleness = each.details.staleness;
  if (staleness.empty()) return "";
  std::int64_t pushes = 0, others = 0;
  for (const auto& [behind, count] : staleness) pushes += count, others += behind * count;
  if (pushes == 0) return "";
  HtmlTable table({"staleness", "pushes", "share"}, 0);
  std::int64_t shown = 0;
  for (const auto& [behind, count] : staleness) {
    if (table.is_empty() || shown < 20)
      table.add({std::to_string(behind), std::to_string(count),
                 share_cell(static_cast<double>(count) / static_cast<double>(pushes))});
    ++shown;
  }
  const double mean = static_cast<double>(others) / static_cast<double>(pushes);
  return table.text("Staleness: pushes of other workers between a worker's pull and its push") +
         html_paragraph(fmt::format("{:.2f} on average, at most {}.", mean, staleness.rbegin()->first));
}

std::string matrix_of(const ConfusionRecord& confusion) {
  std::string html =
      "<div class=\"scroll\"><table><caption>Confusion matrix: rows are true classes, columns predicted "
      "ones</caption><thead><tr><th class=\"t\"></th>";
  for (const std::string& name : confusion.classes) html += "<th>" + html_escaped(name) + "</th>";
  html += "</tr></thead><tbody>\n";
  for (std::size_t row = 0; row < confusion.counts.size(); ++row) {
    html += "<tr><th class=\"t\">" + html_escaped(confusion.classes[row]) + "</th>";
    std::int64_t all = 0;
    for (const std::int64_t count : confusion.counts[row]) all += count;
    for (const std::int64_t count : confusion.counts[row]) {
      const double share = all > 0 ? static_cast<double>(count) / static_cast<double>(all) : 0;
      html += fmt::format("<td class=\"m\" style=\"background:rgba(0,0,0,{:.3f});color:{}\">{}</td>", 0.75 * share,
                          share > 0.6 ? "#fff" : "#111", count);
    }
    html += "</tr>\n";
  }
  return html + "</tbody></table></div>\n";
}

std::string classes_of(const ReportedRun& each) {
  if (!each.details.confusion) return "";
  const ConfusionRecord& confusion = *each.details.confusion;
  const std::size_t classes = confusion.classes.size();
  HtmlTable table({"class", "samples", "precision", "recall", "F1"});
  struct Confused {
    std::size_t label, predicted;
    std::int64_t samples;
  };
  std::vector<Confused> confused;
  for (std::size_t k = 0; k < classes; ++k) {
    double samples = 0, predicted = 0;
    const auto right = static_cast<double>(confusion.counts[k][k]);
    for (std::size_t other = 0; other < classes; ++other) {
      samples += static_cast<double>(confusion.counts[k][other]);
      predicted += static_cast<double>(confusion.counts[other][k]);
      if (other != k && confusion.counts[k][other] > 0) confused.push_back({k, other, confusion.counts[k][other]});
    }
    table.add({confusion.classes[k], fmt::format("{:.0f}", samples), share_cell(right / predicted),
               share_cell(right / samples), share_cell(2 * right / (samples + predicted))});
  }
  std::ranges::stable_sort(confused, [](const Confused& a, const Confused& b) { return a.samples > b.samples; });
  std::string html =
      "<h3>Classes</h3>\n" + table.text(fmt::format("Scores of each class on the {} set at step {}",
                                                    confusion.is_validation ? "validation" : "test", confusion.step));
  if (classes <= kMostMatrixClasses) return html + matrix_of(confusion);
  HtmlTable pairs({"true class", "predicted", "samples"}, 2);
  for (std::size_t i = 0; i < std::min(kMostConfused, confused.size()); ++i)
    pairs.add({confusion.classes[confused[i].label], confusion.classes[confused[i].predicted],
               std::to_string(confused[i].samples)});
  return pairs.is_empty() ? html : html + pairs.text("Most frequent confusions");
}

std::string incidents_of(const ReportedRun& each) {
  HtmlTable table({"step", "when", "what"}, 3);
  for (const RunStartDetail& start : each.details.starts)
    table.add({std::to_string(start.step), start.date, fmt::format("started on {}", start.host)});
  for (const RunIncident& incident : each.details.incidents)
    if (incident.kind != "resumed")
      table.add({std::to_string(incident.step), moment_text(incident.time), incident.text});
  std::string html;
  if (!table.is_empty()) html += table.text("What happened");
  if (each.details.checkpoints > 0)
    html += html_paragraph(
        fmt::format("{} written{}.", base::counted(each.details.checkpoints, "checkpoint"),
                    std::isfinite(each.details.checkpoint_seconds)
                        ? fmt::format(", {} in all", base::human_seconds(each.details.checkpoint_seconds))
                        : std::string()));
  return html;
}

}  // namespace

std::string run_section(const ReportedRun& each) {
  std::string html = html_paragraph(
      fmt::format("Folder {}, {}{}.", each.run.folder.string(), state_name(each.run.state),
                  each.run.weights_sha256.empty() ? std::string() : ", weights " + each.run.weights_sha256));
  const auto part = [&](const char* title, const std::string& text) {
    if (!text.empty()) html += fmt::format("<h3>{}</h3>\n{}", title, text);
  };
  part("Configuration", configuration_of(each));
  part("Machines", machines_of(each));
  part("Epochs", epochs_of(each));
  html += classes_of(each);
  part("Workers", workers_of(each));
  part("Staleness", staleness_of(each));
  part("Events", incidents_of(each));
  return html;
}

}  // namespace trireme::watch
