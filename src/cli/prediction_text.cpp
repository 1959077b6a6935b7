#include "cli/prediction_text.h"

#include <fmt/core.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <numeric>

#include "base/text/text.h"

namespace trireme::cli {
namespace {

using PredictionJson = nlohmann::ordered_json;
using data::TargetKind;

std::string number_text(double value) { return fmt::format("{:.6g}", value); }

// The names of the labels that hold: those with at least half the value 1.
template <class Values>
std::vector<std::string> labels_that_hold(const data::DataSpec& spec, const Values& values) {
  std::vector<std::string> names;
  for (std::size_t k = 0; k < values.size(); ++k)
    if (values[k] >= 0.5) names.push_back(train::class_name(spec, k));
  return names;
}

// The classes with the largest probabilities, the best first.
std::vector<std::size_t> best_of(const std::vector<double>& answer, std::int64_t top) {
  std::vector<std::size_t> order(answer.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) { return answer[a] > answer[b]; });
  order.resize(std::min(order.size(), static_cast<std::size_t>(top)));
  return order;
}

std::string csv_line(const std::vector<std::string>& fields) {
  std::string line;
  for (std::size_t i = 0; i < fields.size(); ++i) line += (i > 0 ? "," : "") + csv_field(fields[i]);
  return line + "\n";
}

// "label" of one value; "label_NAME" of several.
void add_value_names(const char* what, const data::DataSpec& spec, std::vector<std::string>& fields) {
  if (spec.classes == 1) return fields.emplace_back(what), void();
  for (std::size_t k = 0; k < static_cast<std::size_t>(spec.classes); ++k)
    fields.push_back(fmt::format("{}_{}", what, train::class_name(spec, k)));
}

std::vector<std::string> csv_header(const PredictionTable& table) {
  const train::Predictions& p = table.predictions;
  std::vector<std::string> fields{"index"};
  if (table.file) fields.emplace_back("file");
  if (p.spec.target == TargetKind::values) {
    if (!p.targets.empty()) add_value_names("label", p.spec, fields);
    add_value_names("predicted", p.spec, fields);
    return fields;
  }
  if (!p.targets.empty()) fields.emplace_back("label");
  fields.emplace_back("predicted");
  if (table.top > 0) fields.emplace_back("probability");
  for (std::int64_t k = 2; k <= table.top; ++k) {
    fields.push_back(fmt::format("predicted_{}", k));
    fields.push_back(fmt::format("probability_{}", k));
  }
  if (table.top == 0)
    for (std::size_t k = 0; k < static_cast<std::size_t>(p.spec.classes); ++k)
      fields.push_back("p_" + train::class_name(p.spec, k));
  return fields;
}

std::vector<std::string> csv_values(const PredictionTable& table, std::int64_t sample) {
  const train::Predictions& p = table.predictions;
  std::vector<std::string> fields{std::to_string(sample)};
  if (table.file) fields.push_back(table.file(sample));
  if (p.spec.target == TargetKind::values) {
    if (!p.targets.empty())
      for (const float value : p.target(sample)) fields.push_back(fmt::format("{}", value));
    for (const float value : p.output(sample)) fields.push_back(fmt::format("{}", value));
    return fields;
  }
  const std::vector<double> answer = p.answer(sample);
  if (p.spec.target == TargetKind::labels) {
    if (!p.targets.empty()) fields.push_back(base::join(labels_that_hold(p.spec, p.target(sample)), ";"));
    fields.push_back(base::join(labels_that_hold(p.spec, answer), ";"));
  } else {
    if (!p.targets.empty()) fields.push_back(train::class_name(p.spec, static_cast<std::size_t>(p.target(sample)[0])));
    if (table.top == 0) fields.push_back(train::class_name(p.spec, p.best_class(sample)));
  }
  if (table.top == 0)
    for (const double probability : answer) fields.push_back(number_text(probability));
  for (const std::size_t k : table.top > 0 ? best_of(answer, table.top) : std::vector<std::size_t>()) {
    fields.push_back(train::class_name(p.spec, k));
    fields.push_back(number_text(answer[k]));
  }
  return fields;
}

PredictionJson one_or_list(std::span<const float> values) {
  return values.size() == 1 ? PredictionJson(values[0]) : PredictionJson(values);
}

PredictionJson json_of(const PredictionTable& table, std::int64_t sample) {
  const train::Predictions& p = table.predictions;
  PredictionJson json{{"index", sample}};
  if (table.file) json["file"] = table.file(sample);
  if (p.spec.target == TargetKind::values) {
    if (!p.targets.empty()) json["label"] = one_or_list(p.target(sample));
    json["predicted"] = one_or_list(p.output(sample));
    return json;
  }
  const std::vector<double> answer = p.answer(sample);
  if (p.spec.target == TargetKind::labels) {
    if (!p.targets.empty()) json["label"] = labels_that_hold(p.spec, p.target(sample));
    json["predicted"] = labels_that_hold(p.spec, answer);
  } else {
    if (!p.targets.empty()) json["label"] = train::class_name(p.spec, static_cast<std::size_t>(p.target(sample)[0]));
    json["predicted"] = train::class_name(p.spec, p.best_class(sample));
  }
  if (table.top == 0) {
    PredictionJson& all = json["probabilities"] = PredictionJson::object();
    for (std::size_t k = 0; k < answer.size(); ++k) all[train::class_name(p.spec, k)] = answer[k];
  } else {
    for (const std::size_t k : best_of(answer, table.top))
      json["top"].push_back({{"class", train::class_name(p.spec, k)}, {"probability", answer[k]}});
  }
  return json;
}

}  // namespace

std::string csv_field(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
  return quoted + "\"";
}

std::string as_csv(const PredictionTable& table) {
  std::string text = csv_line(csv_header(table));
  for (std::int64_t s = 0; s < table.predictions.samples; ++s) text += csv_line(csv_values(table, s));
  return text;
}

std::string as_json_lines(const PredictionTable& table) {
  std::string text;
  for (std::int64_t s = 0; s < table.predictions.samples; ++s)
    text += json_of(table, s).dump(-1, ' ', false, PredictionJson::error_handler_t::replace) + "\n";
  return text;
}

std::string as_npy(const PredictionTable& table) {
  const train::Predictions& p = table.predictions;
  std::string header =
      fmt::format("{{'descr': '<f4', 'fortran_order': False, 'shape': ({}, {}), }}", p.samples, p.spec.classes);
  constexpr std::size_t kPrefix = 10, kAlignment = 64;  // magic, version, length; NumPy aligns the values
  header.resize((kPrefix + header.size() + 1 + kAlignment - 1) / kAlignment * kAlignment - kPrefix - 1, ' ');
  header += '\n';
  std::string bytes("\x93NUMPY\x01\x00", 8);
  bytes += static_cast<char>(header.size() & 255);
  bytes += static_cast<char>(header.size() >> 8);
  bytes += header;
  for (std::int64_t s = 0; s < p.samples; ++s)
    for (const double value : p.answer(s)) {
      const auto real = static_cast<float>(value);
      bytes.append(reinterpret_cast<const char*>(&real), sizeof real);
    }
  return bytes;
}

}  // namespace trireme::cli
