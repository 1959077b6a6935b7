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
constexpr std::array kOfThePlace{"run", "resume", "config", "json", "quiet", "allow-other-bits", "data-dir"};

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

}  // namespace

RunDifference difference_of(const RunRecord& a, const RunRecord& b) {
  RunDifference difference;
  std::map<std::string, std::pair<std::string, std::string>> options;
  for (const auto& [name, value] : a.configuration) options[name].first = value;
  for (const auto& [name, value] : b.configuration) options[name].second = value;
  for (const auto& [name, values] : options)
    if (!name.starts_with("watch") && std::ranges::find(kOfThePlace, name) == kOfThePlace.end())
      add_if_different(difference.options, name.c_str(), values.first, values.second);

  auto& results = difference.results;
  add_if_different(results, "state", state_name(a.state), state_name(b.state));
  add_if_different(results, "steps", std::to_string(a.last_step.step), std::to_string(b.last_step.step));
  add_if_different(results, "accuracy", share_text(best_known_accuracy(a)), share_text(best_known_accuracy(b)));
  add_if_different(results, "loss", short_number(best_known_loss(a)), short_number(best_known_loss(b)));
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
  return difference;
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
  if (difference.common_steps == 0)
    lines.emplace_back("losses: no step is in both runs");
  else if (difference.first_different_loss == 0)
    lines.push_back(fmt::format("losses: the same bits in all {} that both runs have",
                                base::counted(difference.common_steps, "step")));
  else
    lines.push_back(fmt::format("losses: different from step {} on", difference.first_different_loss));
  if (difference.common_checkpoints == 0)
    lines.emplace_back("weights: no checkpoint is of the same step in both runs");
  else if (difference.first_different_checkpoint == 0)
    lines.push_back(fmt::format("weights: the same bits in {} of the same step",
                                base::counted(difference.common_checkpoints, "checkpoint")));
  else
    lines.push_back(
        fmt::format("weights: different in the checkpoints of step {}", difference.first_different_checkpoint));
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
                     {"common_checkpoints", difference.common_checkpoints},
                     {"first_different_checkpoint", difference.first_different_checkpoint}}
      .dump();
}

}  // namespace trireme::watch
