// The sections of a report that set its runs side by side.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "base/text/text.h"
#include "train/experiment/options.h"
#include "watch/records/curves.h"
#include "watch/records/run_difference.h"
#include "watch/report/html.h"
#include "watch/report/reported_run.h"
#include "watch/show/bars.h"
#include "watch/show/plot.h"

namespace trireme::watch {
namespace {

std::vector<RunRecord> records_of(const std::vector<ReportedRun>& runs) {
  std::vector<RunRecord> records;
  for (const ReportedRun& run : runs) {
    records.push_back(run.run);
    records.back().name = run.label;
  }
  return records;
}

double done_epochs(const RunRecord& run) {
  const std::int64_t step = std::max(run.last_step.step, run.epochs.empty() ? 0 : run.epochs.back().step);
  return run.steps_per_epoch > 0 ? static_cast<double>(step) / static_cast<double>(run.steps_per_epoch) : 0;
}

std::string state_cell(const ReportedRun& run) {
  return run.run.starts > 1 ? fmt::format("{}, resumed", state_name(run.run.state)) : state_name(run.run.state);
}

// Options that do not make two runs different experiments when the number of workers is what is studied.
bool goes_with_workers(const std::string& option) {
  static const std::set<std::string> kSuch{
      "run",  "resume",     "config",   "json", "quiet",  "workers",      "hosts", "servers",          "server-hosts",
      "port", "threads",    "strategy", "pin",  "assign", "watch-layers", "keep",  "allow-other-bits", "oars",
      "slow", "hash-every", "profile"};
  return kSuch.contains(option);
}

std::string experiment_of(const RunRecord& run) {
  std::string key = run.strategy == "single" ? "allreduce" : run.strategy;
  for (const auto& [option, value] : run.configuration)
    if (!goes_with_workers(option)) key += "\n" + option + "=" + value;
  return key;
}

}  // namespace

std::string overview_section(const std::vector<ReportedRun>& runs) {
  std::vector<std::string> scores;
  for (const std::string& name : score_names())
    if (std::ranges::any_of(runs, [&](const auto& run) { return std::isfinite(best_known_score(run.run, name)); }))
      scores.push_back(name);
  const bool has_accuracy =
      std::ranges::any_of(runs, [](const auto& run) { return std::isfinite(best_known_accuracy(run.run)); });
  std::vector<std::string> head{"run", "model", "data", "strategy", "state", "workers", "servers", "epochs"};
  if (has_accuracy) head.emplace_back("accuracy");
  head.emplace_back("loss");
  for (const std::string& score : scores) head.push_back(score_title(score));
  head.insert(head.end(), {"samples/s", "time"});
  HtmlTable table(head, 5);
  std::vector<std::string> notes;
  for (const ReportedRun& each : runs) {
    const RunRecord& run = each.run;
    std::vector<std::string> row{each.label,
                                 run.model,
                                 run.data,
                                 run.strategy,
                                 state_cell(each),
                                 std::to_string(run.workers),
                                 std::to_string(run.servers),
                                 fmt::format("{:.4g}", done_epochs(run))};
    if (has_accuracy) row.push_back(share_cell(best_known_accuracy(run)));
    row.push_back(number_cell(best_known_loss(run), "{:.4f}"));
    for (const std::string& score : scores) row.push_back(number_cell(best_known_score(run, score), "{:.4g}"));
    row.push_back(number_cell(overall_speed(run, each.details), "{:.0f}"));
    row.push_back(run_seconds(run) > 0 ? base::human_seconds(run_seconds(run)) : "–");
    table.add(std::move(row));
    if (run.state != RunState::finished)
      notes.push_back(
          fmt::format("{} is {}: its numbers are those after its last epoch.", each.label, state_name(run.state)));
    if (each.details.damaged_lines > 0)
      notes.push_back(fmt::format("metrics.jsonl of {} has {} that cannot be read and are left out.", each.label,
                                  base::counted(each.details.damaged_lines, "line")));
  }
  std::string html = table.text();
  if (!notes.empty()) html += html_list(notes);
  return html + html_paragraph(
                    "Accuracy, loss and scores are of the last weights, on the test set where the run has finished. "
                    "Samples per second are training samples over the time of the steps, without evaluation and "
                    "checkpoints. The time is that of the whole run, across resumes.");
}

std::string curves_section(const std::vector<ReportedRun>& runs) {
  const std::vector<RunRecord> records = records_of(runs);
  std::string html;
  CurveOptions by_epoch;
  by_epoch.values = {"loss", "accuracy", "r2", "mae", "rmse", "f1"};
  for (const Plot& plot : curves_of(records, by_epoch))
    html += html_figure(to_svg(plot), plot.title + " over epochs; dashed: training, solid: held-out data");
  CurveOptions by_time{CurveAxis::time, {"loss", "accuracy"}, false};
  if (runs.size() > 1)
    for (Plot& plot : curves_of(records, by_time)) {
      std::erase_if(plot.lines, [](const PlotLine& line) { return line.is_dashed; });
      if (!plot.lines.empty())
        html += html_figure(to_svg(plot), plot.title + " of held-out data over the time of the run");
    }
  return html;
}

std::string time_section(const std::vector<ReportedRun>& runs) {
  std::vector<std::string> head{"run", "total"};
  for (const observe::StepPhase& phase : observe::kStepPhases) head.emplace_back(phase.name);
  head.insert(head.end(), {"backward + update", "evaluation", "checkpoints", "other", "hidden network"});
  HtmlTable table(head);
  Bars bars{"time of the runs", "seconds", {}, {}};
  for (const observe::StepPhase& phase : observe::kStepPhases) bars.parts.emplace_back(phase.name);
  bars.parts.emplace_back("other");
  for (const ReportedRun& each : runs) {
    const observe::StepSeconds& seconds = each.details.seconds;
    if (each.details.steps == 0) continue;
    const double total = std::max(run_seconds(each.run), seconds.total());
    const auto known = [](double value) { return std::isfinite(value) ? value : 0; };
    const double rest = std::max(
        0.0, total - seconds.total() - known(each.details.evaluation_seconds) - known(each.details.checkpoint_seconds));
    std::vector<std::string> row{each.label, seconds_cell(total)};
    Bar bar{"", seconds_cell(total), {}};
    for (const observe::StepPhase& phase : observe::kStepPhases) {
      row.push_back(seconds_cell(seconds.*phase.seconds));
      bar.parts.push_back(seconds.*phase.seconds);
    }
    bar.parts.push_back(std::max(0.0, total - seconds.total()));
    row.insert(row.end(),
               {seconds_cell(seconds.backward + seconds.update), seconds_cell(each.details.evaluation_seconds),
                seconds_cell(each.details.checkpoint_seconds), seconds_cell(rest), seconds_cell(seconds.hidden)});
    table.add(std::move(row));
    bars.groups.push_back({each.label, {bar}});
  }
  if (table.is_empty()) return "";
  std::string html;
  if (bars.groups.size() <= 12)
    html += html_figure(to_svg(bars), "Seconds of the whole run by phase, means over the workers");
  return html + table.text("Seconds by phase, means over the workers, summed over all steps of the run") +
         html_paragraph(
             "Load: waiting for data. Network: communication that the computation waited for, with the waiting for "
             "slower workers; hidden network overlapped with computation and is not part of the total. Other: what is "
             "in no column before it. Studies that count the update of the weights as backward compare with 'backward "
             "+ update'.");
}

std::string scaling_section(const std::vector<ReportedRun>& runs) {
  std::map<std::string, std::vector<const ReportedRun*>> experiments;
  for (const ReportedRun& run : runs)
    if (std::isfinite(overall_speed(run.run, run.details))) experiments[experiment_of(run.run)].push_back(&run);
  std::string html;
  for (auto& [key, members] : experiments) {
    std::ranges::stable_sort(members, {}, [](const ReportedRun* run) { return run->run.workers; });
    if (members.front()->run.workers == members.back()->run.workers) continue;
    const double fewest = static_cast<double>(members.front()->run.workers);
    const double base_speed = overall_speed(members.front()->run, members.front()->details);
    HtmlTable table({"run", "workers", "samples/s", "speed-up", "efficiency", "time"});
    PlotLine measured{"measured", {}, 0, false, true}, ideal{"ideal", {}, 6, true, false};
    for (const ReportedRun* each : members) {
      const double workers = static_cast<double>(each->run.workers), speed = overall_speed(each->run, each->details);
      const double gain = speed / base_speed;
      table.add({each->label, std::to_string(each->run.workers), number_cell(speed, "{:.0f}"),
                 number_cell(gain, "{:.2f}"), share_cell(gain * fewest / workers),
                 base::human_seconds(run_seconds(each->run))});
      measured.points.emplace_back(workers, gain);
    }
    ideal.points = {{fewest, 1}, {measured.points.back().first, measured.points.back().first / fewest}};
    const RunRecord& run = members.front()->run;
    const auto batch = members.front()->details.resolved.find("batch");
    const std::string size =
        batch == members.front()->details.resolved.end() ? std::string() : fmt::format(", batch {}", batch->second);
    const std::string name = fmt::format("{} on {}, {}{}, {} steps", run.model, run.data, members.back()->run.strategy,
                                         size, run.total_steps);
    html += "<h3>" + html_escaped(name) + "</h3>\n";
    html += html_figure(
        to_svg(Plot{"speed-up", "workers", "speed-up", {measured, ideal}, Scale::linear, Scale::linear, true}),
        "Samples per second, relative to the run with the fewest workers");
    html += table.text();
  }
  return html;
}

std::string resources_section(const std::vector<ReportedRun>& runs) {
  HtmlTable table({"run", "hosts", "CPU mean", "CPU peak", "cores used by the run", "network peak",
                   "memory peak of the hosts", "memory peak of the run"});
  Plot cpu{"CPU of the cluster", "seconds", "%", {}, Scale::linear, Scale::linear, true};
  Plot network{"network", "seconds", "MB/s", {}, Scale::linear, Scale::linear, true};
  Plot memory{"memory", "seconds", "GB", {}, Scale::linear, Scale::linear, true};
  const auto line_of = [](const ReportedRun& run, const ResourceUsage::Series& series, double factor,
                          std::size_t colour) {
    PlotLine line{run.label, {}, static_cast<int>(colour), false, false};
    for (const auto& [second, value] : series) line.points.emplace_back(second, value * factor);
    return line;
  };
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const ResourceUsage& use = runs[i].resources;
    if (use.is_empty()) continue;
    table.add({runs[i].label, std::to_string(use.hosts.size()), share_cell(mean_of_series(use.cpu_share)),
               share_cell(peak_of_series(use.cpu_share)), number_cell(mean_of_series(use.run_cores), "{:.2f}"),
               use.network.empty() ? "–" : bytes_cell(peak_of_series(use.network)) + "/s",
               bytes_cell(peak_of_series(use.host_memory)), bytes_cell(peak_of_series(use.run_memory))});
    if (use.cpu_share.size() > 1) cpu.lines.push_back(line_of(runs[i], use.cpu_share, 100, i));
    if (use.network.size() > 1) network.lines.push_back(line_of(runs[i], use.network, 1e-6, i));
    const ResourceUsage::Series& bytes = use.host_memory.empty() ? use.run_memory : use.host_memory;
    if (bytes.size() > 1) memory.lines.push_back(line_of(runs[i], bytes, 1e-9, i));
  }
  if (table.is_empty()) return "";
  std::string html = table.text("Of the whole cluster: all hosts of a run together");
  for (const auto& [plot, caption] :
       {std::pair{&cpu, "Share of all cores of the run's hosts that was in use, by whatever program"},
        std::pair{&network, "Received or sent by all hosts, whichever is more, without loopback"},
        std::pair{&memory, "Memory in use on all hosts"}})
    if (!plot->lines.empty() && std::ranges::any_of(plot->lines, [](const PlotLine& line) {
          return std::ranges::any_of(line.points, [](const auto& point) { return point.second > 0; });
        }))
      html += html_figure(to_svg(*plot), caption);
  return html + html_paragraph(
                    "Sampled about once per second. The memory of the run adds up the resident memory of its "
                    "processes; memory that they share counts once for each.");
}

std::string differences_section(const std::vector<ReportedRun>& runs) {
  if (runs.size() < 2) return "";
  std::map<std::string, std::map<std::string, std::size_t>> values;  // option -> value -> how many runs
  for (const ReportedRun& run : runs)
    for (const auto& [option, value] : run.run.configuration) ++values[option][value];
  for (const base::OptionSpec& option : train::train_options()) {  // an older run lacks newer options
    const auto found = values.find(option.name);
    if (found == values.end()) continue;
    std::size_t known = 0;
    for (const auto& [value, count] : found->second) known += count;
    if (known < runs.size()) found->second[option.value[0] == '\0' ? "no" : option.otherwise] += runs.size() - known;
  }
  std::vector<std::string> head{"option"};
  for (const ReportedRun& run : runs) head.push_back(run.label);
  HtmlTable table(head, head.size());
  for (const auto& [option, counts] : values) {
    const bool is_everywhere_equal = counts.size() == 1 && counts.begin()->second == runs.size();
    if (is_everywhere_equal || is_of_the_place(option)) continue;
    std::vector<std::string> row{option};
    for (const ReportedRun& run : runs) {
      const auto found = run.run.configuration.find(option);
      row.push_back(found == run.run.configuration.end() ? "–" : found->second);
    }
    table.add(std::move(row));
  }
  std::string html = table.is_empty() ? html_paragraph("All runs have the same options.") : table.text("Options");
  HtmlTable bits({"compared with " + runs[0].label, "losses", "weights"}, 3);
  for (std::size_t i = 1; i < runs.size(); ++i) {
    const RunDifference difference = difference_of(runs[0].run, runs[i].run);
    bits.add({runs[i].label, losses_sentence(difference), base::join(weights_sentences(difference), "; ")});
  }
  return html + bits.text("Bits");
}

}  // namespace trireme::watch
