#include "cli/eval_report.h"

#include <fmt/core.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "data/show/contact_sheet.h"
#include "data/show/sheet_label.h"
#include "train/results/score_report.h"

namespace trireme::cli {
namespace {

using ReportJson = nlohmann::ordered_json;
using data::TargetKind;

constexpr std::size_t kShownClasses = 20, kShownPairs = 10, kMatrixClasses = 100, kWidestName = 24;
constexpr std::size_t kWidestMatrix = 100;  // columns of text, for names instead of numbers above a matrix
constexpr std::int64_t kWorstSamples = 10, kWorstPictures = 64;

std::string percent_or_dash(std::optional<double> share) { return share ? fmt::format("{:.2f} %", 100 * *share) : "-"; }

// The name as a cell of a table.
std::string cell(const std::string& name, std::size_t width) { return fmt::format("{:<{}.{}}", name, width, width); }

std::size_t name_width(const data::DataSpec& spec) {
  std::size_t width = 5;
  for (std::size_t k = 0; k < static_cast<std::size_t>(spec.classes); ++k)
    width = std::max(width, train::class_name(spec, k).size());
  return std::min(width, kWidestName);
}

void add_scores(const data::DataSpec& spec, const train::ClassReport& report, std::vector<std::string>& lines) {
  const std::size_t width = name_width(spec);
  std::vector<std::size_t> shown;
  for (std::size_t k = 0; k < report.scores.size(); ++k)
    if (report.scores.size() <= kShownClasses || report.scores[k].samples > 0) shown.push_back(k);
  const bool is_part = shown.size() > kShownClasses;
  if (is_part) {
    std::ranges::stable_sort(shown, [&](std::size_t a, std::size_t b) {
      return report.scores[a].f1().value_or(0) < report.scores[b].f1().value_or(0);
    });
    shown.resize(kShownPairs);
  }
  const char* what = spec.target == TargetKind::classes ? "class" : "label";
  lines.push_back("");
  if (is_part) lines.push_back(fmt::format("the {} of {} classes with the lowest F1", shown.size(), spec.classes));
  lines.push_back(fmt::format("{}  samples  precision     recall         F1", cell(what, width)));
  for (const std::size_t k : shown) {
    const train::ClassScore& score = report.scores[k];
    lines.push_back(fmt::format("{}  {:>7}  {:>9}  {:>9}  {:>9}", cell(train::class_name(spec, k), width),
                                score.samples, percent_or_dash(score.precision()), percent_or_dash(score.recall()),
                                percent_or_dash(score.f1())));
  }
}

void add_matrix(const data::DataSpec& spec, const train::ClassReport& report, std::vector<std::string>& lines) {
  const auto matrix = report.matrix();
  const std::size_t width = name_width(spec);
  std::size_t digits = 1;
  for (const auto& row : matrix)
    for (const std::int64_t count : row) digits = std::max(digits, std::to_string(count).size());
  const std::size_t wide = std::max(width, digits), narrow = std::max<std::size_t>(digits, 2);
  const bool by_name = width + matrix.size() * (wide + 2) <= kWidestMatrix;
  const auto row_name = [&](std::size_t k) {
    const std::string name = cell(train::class_name(spec, k), width);
    return by_name ? name : fmt::format("{:>2} {}", k, name);
  };
  lines.push_back("");
  lines.push_back("confusion: a row per true class, a column per predicted one");
  std::string header(row_name(0).size(), ' ');
  for (std::size_t k = 0; k < matrix.size(); ++k)
    header += by_name ? fmt::format("  {:>{}.{}}", train::class_name(spec, k), wide, wide)
                      : fmt::format("  {:>{}}", k, narrow);
  lines.push_back(header);
  for (std::size_t k = 0; k < matrix.size(); ++k) {
    std::string line = row_name(k);
    for (const std::int64_t count : matrix[k]) line += fmt::format("  {:>{}}", count, by_name ? wide : narrow);
    lines.push_back(line);
  }
}

void add_confusions(const data::DataSpec& spec, const train::ClassReport& report, std::vector<std::string>& lines) {
  if (report.confusions.empty()) return;
  lines.push_back("");
  lines.push_back("most often confused");
  for (std::size_t i = 0; i < std::min(report.confusions.size(), kShownPairs); ++i) {
    const train::Confusion& each = report.confusions[i];
    lines.push_back(fmt::format("{:>7} of {:<7} {} taken for {}", each.samples, report.scores[each.label].samples,
                                train::class_name(spec, each.label), train::class_name(spec, each.predicted)));
  }
}

// What the network said, as text: the class, the labels that hold, the values.
std::string predicted_text(const train::Predictions& p, std::int64_t sample) {
  std::vector<float> said;
  if (p.spec.target == TargetKind::classes) {
    said = {static_cast<float>(p.best_class(sample))};
  } else {
    for (const double x : p.answer(sample))
      said.push_back(p.spec.target == TargetKind::values ? static_cast<float>(x) : x >= 0.5 ? 1.0f : 0.0f);
  }
  return data::label_text(p.spec, said);
}

void add_worst(const EvalReport& report, std::vector<std::string>& lines) {
  const train::Predictions& p = report.predictions;
  const std::vector<std::int64_t> worst = train::worst_samples(p, kWorstSamples);
  std::size_t width = 9;
  for (const std::int64_t s : worst)
    width = std::max({width, data::label_text(p.spec, p.target(s)).size(), predicted_text(p, s).size()});
  width = std::min(width, kWidestName);
  lines.push_back("");
  lines.push_back("samples with the highest loss");
  lines.push_back(fmt::format("  index        loss  {}  predicted", cell("label", width)));
  for (const std::int64_t s : worst) {
    const std::string start =
        fmt::format("{:>7}  {:>10.4g}  {}  ", s, p.loss(s), cell(data::label_text(p.spec, p.target(s)), width));
    const std::string file = report.file(s), said = predicted_text(p, s);
    lines.push_back(start + (file.empty() ? said.substr(0, kWidestName) : cell(said, width) + "  " + file));
  }
}

ReportJson number_or_null(std::optional<double> value) { return value ? ReportJson(*value) : ReportJson(nullptr); }

// The true class by name, the list of true labels, or the values.
ReportJson target_json(const train::Predictions& p, std::span<const float> target) {
  if (p.spec.target == TargetKind::classes) return train::class_name(p.spec, static_cast<std::size_t>(target[0]));
  if (p.spec.target == TargetKind::values) return target.size() == 1 ? ReportJson(target[0]) : ReportJson(target);
  ReportJson names = ReportJson::array();
  for (std::size_t k = 0; k < target.size(); ++k)
    if (target[k] != 0) names.push_back(train::class_name(p.spec, k));
  return names;
}

ReportJson worst_json(const EvalReport& report) {
  const train::Predictions& p = report.predictions;
  ReportJson list = ReportJson::array();
  for (const std::int64_t s : train::worst_samples(p, kWorstSamples)) {
    ReportJson json{{"index", s}};
    if (const std::string file = report.file(s); !file.empty()) json["file"] = file;
    json["label"] = target_json(p, p.target(s));
    if (p.spec.target == TargetKind::classes) {
      json["predicted"] = train::class_name(p.spec, p.best_class(s));
    } else {
      std::vector<float> said;
      for (const double x : p.answer(s))
        said.push_back(p.spec.target == TargetKind::values ? static_cast<float>(x) : x >= 0.5 ? 1.0f : 0.0f);
      json["predicted"] = target_json(p, said);
    }
    json["loss"] = p.loss(s);
    list.push_back(std::move(json));
  }
  return list;
}

}  // namespace

std::vector<std::string> report_lines(const EvalReport& report) {
  const data::DataSpec& spec = report.predictions.spec;
  std::vector<std::string> lines;
  if (spec.target == TargetKind::values) {
    const std::vector<std::string> table = train::value_table(spec, report.predictions.evaluation.scores);
    if (!table.empty()) lines.push_back("");
    lines.insert(lines.end(), table.begin(), table.end());
  } else {
    const train::ClassReport classes = train::report_classes(report.predictions);
    add_scores(spec, classes, lines);
    if (spec.target == TargetKind::classes && classes.scores.size() <= kShownClasses)
      add_matrix(spec, classes, lines);
    else
      add_confusions(spec, classes, lines);
  }
  add_worst(report, lines);
  return lines;
}

std::string report_json(const EvalReport& report) {
  const data::DataSpec& spec = report.predictions.spec;
  ReportJson json = ReportJson::object();
  if (spec.target == TargetKind::values) {
    json["per_value"] = ReportJson::parse(train::each_score_json(spec, report.predictions.evaluation.scores));
  } else {
    const train::ClassReport classes = train::report_classes(report.predictions);
    for (std::size_t k = 0; k < classes.scores.size(); ++k) {
      const train::ClassScore& score = classes.scores[k];
      json["per_class"].push_back({{"class", train::class_name(spec, k)},
                                   {"samples", score.samples},
                                   {"predicted", score.predicted},
                                   {"precision", number_or_null(score.precision())},
                                   {"recall", number_or_null(score.recall())},
                                   {"f1", number_or_null(score.f1())}});
    }
    if (spec.target == TargetKind::classes) {
      if (classes.scores.size() <= kMatrixClasses) json["confusion"] = classes.matrix();
      json["confused"] = ReportJson::array();
      for (std::size_t i = 0; i < std::min(classes.confusions.size(), kShownPairs); ++i)
        json["confused"].push_back({{"label", train::class_name(spec, classes.confusions[i].label)},
                                    {"predicted", train::class_name(spec, classes.confusions[i].predicted)},
                                    {"samples", classes.confusions[i].samples}});
    }
  }
  json["worst"] = worst_json(report);
  return json.dump(-1, ' ', false, ReportJson::error_handler_t::replace);
}

data::ContactSheet worst_sheet(const train::Predictions& predictions, const data::Dataset& dataset) {
  data::SheetOptions options;
  options.indices = train::worst_samples(predictions, kWorstPictures);
  for (const std::int64_t s : options.indices)
    options.labels.push_back(fmt::format("{} / {}, {:.3g}", data::label_text(predictions.spec, predictions.target(s)),
                                         predicted_text(predictions, s), predictions.loss(s)));
  return data::contact_sheet(dataset, options);
}

}  // namespace trireme::cli
