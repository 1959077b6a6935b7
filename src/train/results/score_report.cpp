#include "train/results/score_report.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "train/evaluation/predictions.h"
#include "train/results/finite_number.h"

namespace trireme::train {
namespace {

using ScoreJson = nlohmann::ordered_json;

constexpr std::size_t kWidestValue = 24;

std::string share_text(std::optional<double> share) { return share ? fmt::format("{:.2f} %", 100 * *share) : "-"; }
std::string r2_text(std::optional<double> r2) { return r2 ? fmt::format("{:.4f}", *r2) : "-"; }

ScoreJson known_number(std::optional<double> value) {
  return value ? finite_number<ScoreJson>(*value) : ScoreJson(nullptr);
}

}  // namespace

std::string error_text(double error) {
  return std::isnan(error) ? "-" : fmt::format("{:.{}g}", error, std::abs(error) < 1000 ? 4 : 6);
}

std::string headline(const Evaluation& e) {
  if (!e.scores.values.empty()) {
    const ValueScore all = e.scores.all_values();
    return fmt::format("R2  {}  (MAE {}, RMSE {}, loss {:.6g})", r2_text(all.r2), error_text(all.mae),
                       error_text(all.rmse), e.loss);
  }
  if (!e.scores.labels.empty())
    return fmt::format("F1  {} over all labels, {} on average  (exact match {}, accuracy {}, loss {:.4f})",
                       share_text(e.scores.f1_micro()), share_text(e.scores.f1_macro()),
                       share_text(e.scores.exact_match), share_text(e.accuracy), e.loss);
  if (std::isnan(e.accuracy)) return fmt::format("loss  {:.6f}", e.loss);
  return fmt::format("accuracy  {}  (loss {:.4f})", share_text(e.accuracy), e.loss);
}

std::vector<std::string> score_lines(const Evaluation& e) {
  std::vector<std::string> lines;
  const auto add = [&](const char* name, const std::string& text) {
    lines.push_back(fmt::format("{:<9} {}", name, text));
  };
  if (!e.scores.values.empty()) {
    const ValueScore all = e.scores.all_values();
    add("R2", r2_text(all.r2));
    add("MAE", fmt::format("{:.6g}", all.mae));
    add("RMSE", fmt::format("{:.6g}", all.rmse));
  }
  if (!e.scores.labels.empty()) {
    add("F1", share_text(e.scores.f1_micro()) + " over all labels, " + share_text(e.scores.f1_macro()) + " on average");
    add("exact", share_text(e.scores.exact_match) + " of the samples have all labels right");
  }
  if (!std::isnan(e.accuracy)) add("accuracy", share_text(e.accuracy));
  add("loss", fmt::format("{:.6f}", e.loss));
  return lines;
}

std::vector<std::string> value_table(const data::DataSpec& spec, const Scores& scores) {
  if (scores.values.size() < 2) return {};
  std::size_t width = 5;
  for (std::size_t k = 0; k < scores.values.size(); ++k) width = std::max(width, class_name(spec, k).size());
  width = std::min(width, kWidestValue);
  std::vector<std::string> lines{fmt::format("{:<{}}         MAE        RMSE          R2", "value", width)};
  for (std::size_t k = 0; k < scores.values.size(); ++k) {
    const ValueScore& value = scores.values[k];
    lines.push_back(fmt::format("{:<{}.{}}  {:>10}  {:>10}  {:>10}", class_name(spec, k), width, width,
                                error_text(value.mae), error_text(value.rmse), r2_text(value.r2)));
  }
  return lines;
}

std::string each_score_json(const data::DataSpec& spec, const Scores& scores) {
  ScoreJson list = ScoreJson::array();
  for (std::size_t k = 0; k < scores.values.size(); ++k) {
    const ValueScore& value = scores.values[k];
    list.push_back({{"value", class_name(spec, k)},
                    {"mae", finite_number<ScoreJson>(value.mae)},
                    {"rmse", finite_number<ScoreJson>(value.rmse)},
                    {"r2", known_number(value.r2)}});
  }
  for (std::size_t k = 0; k < scores.labels.size(); ++k)
    list.push_back({{"label", class_name(spec, k)}, {"f1", known_number(scores.labels[k].f1())}});
  return list.dump(-1, ' ', false, ScoreJson::error_handler_t::replace);
}

}  // namespace trireme::train
