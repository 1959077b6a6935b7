#include "watch/records/run_table.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <ctime>
#include <limits>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/text/nearest.h"
#include "base/text/text.h"

namespace trireme::watch {
namespace {

using OrderedJson = nlohmann::ordered_json;

constexpr double kNoNumber = std::numeric_limits<double>::quiet_NaN();

std::string percent_text(double share) { return std::isnan(share) ? "-" : fmt::format("{:.2f} %", 100 * share); }
std::string loss_text(double loss) { return std::isnan(loss) ? "-" : fmt::format("{:.4f}", loss); }
std::string score_text(const RunRecord& run, const char* name) {
  const double score = best_known_score(run, name);
  return std::isnan(score) ? "-" : fmt::format("{:.4g}", score);
}
std::string speed_text(double speed) { return std::isnan(speed) ? "-" : fmt::format("{:.0f}", speed); }

double epochs_done(const RunRecord& run) {
  if (run.steps_per_epoch < 1) return 0;
  const std::int64_t step = std::max(run.last_step.step, run.epochs.empty() ? 0 : run.epochs.back().step);
  return static_cast<double>(step) / static_cast<double>(run.steps_per_epoch);
}

std::string epochs_text(const RunRecord& run) {
  if (run.steps_per_epoch < 1) return "-";
  const double all = static_cast<double>(run.total_steps) / static_cast<double>(run.steps_per_epoch);
  const auto short_text = [](double epochs) {
    return epochs == std::floor(epochs) ? fmt::format("{:.0f}", epochs) : fmt::format("{:.1f}", epochs);
  };
  return fmt::format("{}/{}", short_text(epochs_done(run)), short_text(all));
}

std::string date_text(const RunRecord& run) {
  if (run.started == 0) return "-";
  const std::time_t time = run.started;
  std::tm local{};
  localtime_r(&time, &local);
  return fmt::format("{:%Y-%m-%d %H:%M}", local);
}

struct RunColumn {
  const char* name;
  const char* title;
  bool is_left;       // aligned left
  bool larger_first;  // in a sorted table
  std::string (*text)(const RunRecord& run);
  double (*number)(const RunRecord& run);  // null: sorted as text
  bool is_optional = false;                // shown only if some run has the number
};

const std::array kRunColumns{
    RunColumn{"name", "name", true, false, [](const RunRecord& run) { return run.name; }, nullptr},
    RunColumn{"model", "model", true, false, [](const RunRecord& run) { return run.model; }, nullptr},
    RunColumn{"data", "data", true, false, [](const RunRecord& run) { return run.data; }, nullptr},
    RunColumn{"strategy", "strategy", true, false, [](const RunRecord& run) { return run.strategy; }, nullptr},
    RunColumn{"workers", "workers", false, false, [](const RunRecord& run) { return std::to_string(run.workers); },
              [](const RunRecord& run) { return static_cast<double>(run.workers); }},
    RunColumn{"epochs", "epochs", false, false, epochs_text, epochs_done},
    RunColumn{"accuracy", "accuracy", false, true,
              [](const RunRecord& run) { return percent_text(best_known_accuracy(run)); }, best_known_accuracy},
    RunColumn{"loss", "loss", false, false, [](const RunRecord& run) { return loss_text(best_known_loss(run)); },
              best_known_loss},
    RunColumn{"r2", "R2", false, true, [](const RunRecord& run) { return score_text(run, "r2"); },
              [](const RunRecord& run) { return best_known_score(run, "r2"); }, true},
    RunColumn{"mae", "MAE", false, false, [](const RunRecord& run) { return score_text(run, "mae"); },
              [](const RunRecord& run) { return best_known_score(run, "mae"); }, true},
    RunColumn{"rmse", "RMSE", false, false, [](const RunRecord& run) { return score_text(run, "rmse"); },
              [](const RunRecord& run) { return best_known_score(run, "rmse"); }, true},
    RunColumn{"f1", "F1", false, true,
              [](const RunRecord& run) { return percent_text(best_known_score(run, "f1_micro")); },
              [](const RunRecord& run) { return best_known_score(run, "f1_micro"); }, true},
    RunColumn{"speed", "samples/s", false, true,
              [](const RunRecord& run) { return speed_text(run.samples_per_second); },
              [](const RunRecord& run) { return run.samples_per_second; }},
    RunColumn{"time", "time", false, false,
              [](const RunRecord& run) { return run_seconds(run) > 0 ? base::human_seconds(run_seconds(run)) : "-"; },
              [](const RunRecord& run) { return run_seconds(run) > 0 ? run_seconds(run) : kNoNumber; }},
    RunColumn{"state", "state", true, false, [](const RunRecord& run) { return std::string(state_name(run.state)); },
              nullptr},
    RunColumn{"started", "started", true, true, date_text,
              [](const RunRecord& run) { return static_cast<double>(run.started); }},
};

bool is_run_column(const std::string& name) {
  return std::ranges::any_of(kRunColumns, [&](const RunColumn& column) { return name == column.name; });
}

const RunColumn& column_of(const std::string& name) {
  for (const RunColumn& column : kRunColumns)
    if (name == column.name) return column;
  base::user_error("{}", base::unknown_name("column of runs", name, run_columns()));
}

// Columns of a terminal that the text takes, for UTF-8 of letters of one column.
std::size_t width_of(const std::string& text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xC0) != 0x80; }));
}

OrderedJson number_or_null(double value) { return std::isfinite(value) ? OrderedJson(value) : OrderedJson(nullptr); }

}  // namespace

std::vector<std::string> run_columns() {
  std::vector<std::string> names;
  for (const RunColumn& column : kRunColumns) names.emplace_back(column.name);
  return names;
}

std::vector<RunRecord> filter_runs(std::vector<RunRecord> runs, const std::string& conditions) {
  if (conditions.empty()) return runs;
  for (const std::string& condition : base::split(conditions, ',')) {
    const std::size_t equals = condition.find('=');
    if (equals == std::string::npos || equals == 0)
      base::user_error("--filter has '{}', expected column=text, as in model=lenet5,state=finished", condition);
    const std::string name = condition.substr(0, equals), wanted = condition.substr(equals + 1);
    const auto has_option = [&](const RunRecord& run) { return run.configuration.contains(name); };
    if (!is_run_column(name) && std::ranges::any_of(runs, has_option)) {
      std::erase_if(runs,
                    [&](const RunRecord& run) { return !has_option(run) || run.configuration.at(name) != wanted; });
      continue;
    }
    const RunColumn& column = column_of(name);
    std::erase_if(runs, [&](const RunRecord& run) { return column.text(run).find(wanted) == std::string::npos; });
  }
  return runs;
}

std::vector<RunRecord> sort_runs(std::vector<RunRecord> runs, const std::string& name) {
  const RunColumn& column = column_of(name);
  std::stable_sort(runs.begin(), runs.end(), [&](const RunRecord& a, const RunRecord& b) {
    if (column.number == nullptr) return column.text(a) < column.text(b);
    const double left = column.number(a), right = column.number(b);
    if (std::isnan(left) || std::isnan(right)) return !std::isnan(left);
    return column.larger_first ? left > right : left < right;
  });
  return runs;
}

std::vector<std::string> table_lines(const std::vector<RunRecord>& runs) {
  std::vector<std::vector<std::string>> cells(runs.size() + 1);
  std::vector<bool> are_left;
  for (const RunColumn& column : kRunColumns) {
    if (column.is_optional &&
        std::ranges::all_of(runs, [&](const RunRecord& run) { return std::isnan(column.number(run)); }))
      continue;
    are_left.push_back(column.is_left);
    cells[0].emplace_back(column.title);
    for (std::size_t i = 0; i < runs.size(); ++i) cells[i + 1].push_back(column.text(runs[i]));
  }
  std::array<std::size_t, kRunColumns.size()> widths{};
  for (const auto& row : cells)
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], width_of(row[i]));
  std::vector<std::string> lines;
  for (const auto& row : cells) {
    std::string line;
    for (std::size_t i = 0; i < row.size(); ++i) {
      const std::string space(widths[i] - width_of(row[i]), ' ');
      line += (i > 0 ? "  " : "") + (are_left[i] ? row[i] + space : space + row[i]);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    lines.push_back(std::move(line));
  }
  return lines;
}

std::string table_json(const std::vector<RunRecord>& runs) {
  OrderedJson all = OrderedJson::array();
  for (const RunRecord& run : runs) {
    all.push_back({{"run", run.folder.string()},
                   {"model", run.model},
                   {"data", run.data},
                   {"strategy", run.strategy},
                   {"workers", run.workers},
                   {"servers", run.servers},
                   {"parameters", run.parameters},
                   {"steps", run.last_step.step},
                   {"total_steps", run.total_steps},
                   {"steps_per_epoch", run.steps_per_epoch},
                   {"accuracy", number_or_null(best_known_accuracy(run))},
                   {"loss", number_or_null(best_known_loss(run))},
                   {"samples_per_second", number_or_null(run.samples_per_second)},
                   {"seconds", run_seconds(run)},
                   {"state", state_name(run.state)},
                   {"started", run.started},
                   {"weights_sha256", run.weights_sha256}});
    for (const std::string& score : score_names())
      if (const double value = best_known_score(run, score); std::isfinite(value)) all.back()[score] = value;
  }
  return all.dump();
}

}  // namespace trireme::watch
