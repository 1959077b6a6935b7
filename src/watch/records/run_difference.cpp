#include "watch/records/run_difference.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>

#include "base/text/text.h"

namespace trireme::watch {
namespace {

namespace fs = base::fs;
using OrderedJson = nlohmann::ordered_json;

// Options that say where a run is and what it shows, not what it computes.
constexpr std::array kOfThePlace{"run",   "resume",           "config",   "json",
                                 "quiet", "allow-other-bits", "data-dir", "hash-every"};

std::string short_number(double value, const char* unit = "") {
  return std::isfinite(value) ? fmt::format("{:.6g}{}", value, unit) : "-";
}

std::string share_text(double share) { return std::isfinite(share) ? fmt::format("{:.2f} %", 100 * share) : "-"; }

void add_if_different(std::vector<DifferentValue>& values, const char* name, std::string a, std::string b) {
  if (a != b) values.push_back({name, std::move(a), std::move(b)});
}

// The SHA-256 of the weights of each checkpoint, by step.
std::map<std::int64_t, std::string> checkpoint_hashes(const fs::path& run) {
  std::map<std::int64_t, std::string> hashes;
  std::error_code cause;
  for (const auto& entry : fs::directory_iterator(run / "checkpoints", cause)) {
    std::ifstream in(entry.path() / "state.json", std::ios::binary);
    const auto json = nlohmann::json::parse(in, nullptr, false);
    if (entry.path().filename().string().starts_with(".") || !json.is_object()) continue;
    const auto step = json.find("step"), sha = json.find("sha256");
    if (step == json.end() || !step->is_number_integer() || sha == json.end() || !sha->is_object()) continue;
    if (const auto weights = sha->find("weights.safetensors"); weights != sha->end() && weights->is_string())
      hashes[step->get<std::int64_t>()] = weights->get<std::string>();
  }
  return hashes;
}

// The hashes of the weights in metrics.jsonl, by step.
std::map<std::int64_t, std::string> step_hashes(const fs::path& run) {
  std::map<std::int64_t, std::string> hashes;
  std::ifstream in(run / "metrics.jsonl", std::ios::binary);
  for (std::string line; std::getline(in, line);) {
    if (!line.starts_with(R"({"type":"hash")")) continue;
    const auto json = nlohmann::json::parse(line, nullptr, false);
    if (!json.is_object() || !json.contains("step") || !json["step"].is_number_integer()) continue;
    if (json.contains("weights_sha256") && json["weights_sha256"].is_string())
      hashes[json["step"].get<std::int64_t>()] = json["weights_sha256"].get<std::string>();
  }
  return hashes;
}

void compare_hashes(const fs::path& a, const fs::path& b, RunDifference& difference) {
  const auto left = step_hashes(a), right = step_hashes(b);
  for (const auto& [step, hash] : left) {
    const auto other = right.find(step);
    if (other == right.end()) continue;
    ++difference.common_hashes;
    if (difference.first_different_hash != 0) continue;
    (hash == other->second ? difference.last_equal_hash : difference.first_different_hash) = step;
  }
}

void compare_curve(const RunRecord& a, const RunRecord& b, const std::string& name, double (*value)(const EpochRecord&),
                   RunDifference& difference) {
  CurveDifference curve{name, 0, 0, 0, 0};
  double most = 0;
  for (std::size_t i = 0, k = 0; i < a.epochs.size() && k < b.epochs.size();) {
    if (a.epochs[i].step != b.epochs[k].step) {
      a.epochs[i].step < b.epochs[k].step ? ++i : ++k;
      continue;
    }
    const double left = value(a.epochs[i]), right = value(b.epochs[k]);
    ++i, ++k;
    if (!std::isfinite(left) || !std::isfinite(right)) continue;
    ++curve.common_epochs;
    if (std::abs(left - right) <= most) continue;
    most = std::abs(left - right);
    curve.epoch = a.epochs[i - 1].epoch;
    curve.a = left;
    curve.b = right;
  }
  if (most > 0) difference.curves.push_back(std::move(curve));
}

void compare_curves(const RunRecord& a, const RunRecord& b, RunDifference& difference) {
  compare_curve(
      a, b, "training loss", [](const EpochRecord& epoch) { return epoch.train_loss; }, difference);
  compare_curve(
      a, b, "training accuracy", [](const EpochRecord& epoch) { return epoch.train_accuracy; }, difference);
  const bool same_set =
      a.epochs.empty() || b.epochs.empty() || a.epochs.back().is_validation == b.epochs.back().is_validation;
  if (!same_set) return;
  const std::string set = !a.epochs.empty() && a.epochs.back().is_validation ? "validation " : "test ";
  compare_curve(
      a, b, set + "loss", [](const EpochRecord& epoch) { return epoch.held_out_loss; }, difference);
  compare_curve(
      a, b, set + "accuracy", [](const EpochRecord& epoch) { return epoch.held_out_accuracy; }, difference);
}

// The steps of a metrics.jsonl one by one, in order.
class StepLines {
 public:
  explicit StepLines(const fs::path& run) : in_(run / "metrics.jsonl", std::ios::binary) { next(); }

  explicit operator bool() const { return step_ > 0; }
  std::int64_t step() const { return step_; }
  // As it is written, which is exact.
  const std::string& loss() const { return loss_; }

  void next() {
    step_ = 0;
    for (std::string line; std::getline(in_, line);) {
      if (!line.starts_with(R"({"type":"step")") || !line.ends_with('}')) continue;
      const std::string step = field(line, R"("step":)");
      loss_ = field(line, R"("loss":)");
      if (step.empty() || step.size() > 18 || step.find_first_not_of("0123456789") != std::string::npos) continue;
      step_ = std::stoll(step);
      return;
    }
  }

 private:
  static std::string field(const std::string& line, const char* key) {
    const std::size_t at = line.find(key);
    if (at == std::string::npos) return {};
    const std::size_t begin = at + std::char_traits<char>::length(key);
    return line.substr(begin, line.find_first_of(",}", begin) - begin);
  }

  std::ifstream in_;
  std::int64_t step_ = 0;
  std::string loss_;
};

void compare_steps(const fs::path& a, const fs::path& b, RunDifference& difference) {
  StepLines left(a), right(b);
  while (left && right) {
    if (left.step() < right.step()) {
      left.next();
    } else if (right.step() < left.step()) {
      right.next();
    } else {
      ++difference.common_steps;
      if (difference.first_different_loss == 0 && left.loss() != right.loss())
        difference.first_different_loss = left.step();
      left.next();
      right.next();
    }
  }
}

void add_table(std::vector<std::string>& lines, const std::vector<DifferentValue>& values) {
  std::size_t name_width = 0, a_width = 0;
  for (const DifferentValue& value : values) {
    name_width = std::max(name_width, value.name.size());
    a_width = std::max(a_width, value.a.size());
  }
  for (const DifferentValue& value : values)
    lines.push_back(fmt::format("  {:<{}}  {:<{}}  {}", value.name, name_width, value.a, a_width, value.b));
}

OrderedJson json_of(const std::vector<DifferentValue>& values) {
  OrderedJson json = OrderedJson::object();
  for (const DifferentValue& value : values) json[value.name] = {{"a", value.a}, {"b", value.b}};
  return json;
}

OrderedJson json_of(const std::vector<CurveDifference>& curves) {
  OrderedJson json = OrderedJson::object();
  for (const CurveDifference& curve : curves)
    json[curve.name] = {{"common_epochs", curve.common_epochs}, {"epoch", curve.epoch}, {"a", curve.a}, {"b", curve.b}};
  return json;
}

}  // namespace

RunDifference difference_of(const RunRecord& a, const RunRecord& b) {
  RunDifference difference;
  std::map<std::string, std::pair<std::string, std::string>> options;
  for (const auto& [name, value] : a.configuration) options[name].first = value;
  for (const auto& [name, value] : b.configuration) options[name].second = value;
  for (const auto& [name, values] : options)
    if (!is_of_the_place(name)) add_if_different(difference.options, name.c_str(), values.first, values.second);

  auto& results = difference.results;
  add_if_different(results, "state", state_name(a.state), state_name(b.state));
  add_if_different(results, "steps", std::to_string(a.last_step.step), std::to_string(b.last_step.step));
  add_if_different(results, "accuracy", share_text(best_known_accuracy(a)), share_text(best_known_accuracy(b)));
  add_if_different(results, "loss", short_number(best_known_loss(a)), short_number(best_known_loss(b)));
  for (const std::string& score : score_names())
    add_if_different(results, score_title(score).c_str(), short_number(best_known_score(a, score)),
                     short_number(best_known_score(b, score)));
  add_if_different(results, "training loss", short_number(a.epochs.empty() ? NAN : a.epochs.back().train_loss),
                   short_number(b.epochs.empty() ? NAN : b.epochs.back().train_loss));
  add_if_different(results, "samples/s", short_number(a.samples_per_second), short_number(b.samples_per_second));
  add_if_different(results, "weights", a.weights_sha256.substr(0, 16), b.weights_sha256.substr(0, 16));

  for (const auto& [phase, seconds] : a.seconds)
    if (const auto other = b.seconds.find(phase); other != b.seconds.end())
      add_if_different(difference.seconds, phase.c_str(), base::human_seconds(seconds),
                       base::human_seconds(other->second));

  const auto left = checkpoint_hashes(a.folder), right = checkpoint_hashes(b.folder);
  for (const auto& [step, hash] : left) {
    const auto other = right.find(step);
    if (other == right.end()) continue;
    ++difference.common_checkpoints;
    if (difference.first_different_checkpoint == 0 && hash != other->second)
      difference.first_different_checkpoint = step;
  }
  compare_steps(a.folder, b.folder, difference);
  compare_hashes(a.folder, b.folder, difference);
  compare_curves(a, b, difference);
  return difference;
}

bool is_of_the_place(const std::string& option) {
  return option.starts_with("watch") || std::ranges::find(kOfThePlace, option) != kOfThePlace.end();
}

std::string losses_sentence(const RunDifference& difference) {
  if (difference.common_steps == 0) return "no step is in both runs";
  if (difference.first_different_loss != 0)
    return fmt::format("different from step {} on", difference.first_different_loss);
  return fmt::format("the same bits in all {} that both runs have", base::counted(difference.common_steps, "step"));
}

std::vector<std::string> weights_sentences(const RunDifference& difference) {
  std::vector<std::string> sentences;
  if (difference.first_different_hash != 0 && difference.last_equal_hash != 0)
    sentences.push_back(fmt::format("different at step {}, the same at step {}", difference.first_different_hash,
                                    difference.last_equal_hash));
  else if (difference.first_different_hash != 0)
    sentences.push_back(
        fmt::format("different at step {}, the first of which both have a hash", difference.first_different_hash));
  else if (difference.common_hashes > 0)
    sentences.push_back(
        fmt::format("the same at all {} of which both have a hash", base::counted(difference.common_hashes, "step")));
  if (difference.common_checkpoints == 0)
    sentences.emplace_back("no checkpoint is of the same step in both runs");
  else if (difference.first_different_checkpoint == 0)
    sentences.push_back(fmt::format("the same bits in {} of the same step",
                                    base::counted(difference.common_checkpoints, "checkpoint")));
  else
    sentences.push_back(fmt::format("different in the checkpoints of step {}", difference.first_different_checkpoint));
  return sentences;
}

std::vector<std::string> difference_lines(const RunRecord& a, const RunRecord& b, const RunDifference& difference) {
  std::vector<std::string> lines{fmt::format("a  {}", a.folder.string()), fmt::format("b  {}", b.folder.string())};
  const auto section = [&](const char* title, const std::vector<DifferentValue>& values, const char* none) {
    lines.emplace_back();
    lines.push_back(values.empty() ? fmt::format("{}: {}", title, none) : fmt::format("{} (a, b)", title));
    add_table(lines, values);
  };
  section("options", difference.options, "the same");
  section("results", difference.results, "the same");
  section("time", difference.seconds, "the same, or not known of both");
  lines.emplace_back();
  lines.push_back(losses_sentence(difference).insert(0, "losses: "));
  for (const CurveDifference& curve : difference.curves)
    lines.push_back(fmt::format("{}: farthest apart after epoch {} of {} in both: {}, {}", curve.name, curve.epoch + 1,
                                curve.common_epochs, short_number(curve.a), short_number(curve.b)));
  for (const std::string& sentence : weights_sentences(difference)) lines.push_back("weights: " + sentence);
  return lines;
}

std::string difference_json(const RunRecord& a, const RunRecord& b, const RunDifference& difference) {
  return OrderedJson{{"a", a.folder.string()},
                     {"b", b.folder.string()},
                     {"options", json_of(difference.options)},
                     {"results", json_of(difference.results)},
                     {"seconds", json_of(difference.seconds)},
                     {"common_steps", difference.common_steps},
                     {"first_different_loss", difference.first_different_loss},
                     {"curves", json_of(difference.curves)},
                     {"common_hashes", difference.common_hashes},
                     {"first_different_hash", difference.first_different_hash},
                     {"last_equal_hash", difference.last_equal_hash},
                     {"common_checkpoints", difference.common_checkpoints},
                     {"first_different_checkpoint", difference.first_different_checkpoint}}
      .dump();
}

}  // namespace trireme::watch
