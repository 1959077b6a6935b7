#include "watch/page/feed/metrics_feed.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <utility>

#include "watch/page/feed/flat_json.h"

namespace trireme::watch {
namespace {

using FeedJson = nlohmann::json;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr std::array kPhases{"load", "forward", "backward", "network", "update", "hidden_network"};
constexpr std::array kStepNumbers{"step", "epoch", "loss", "accuracy", "lr"};
constexpr std::array kEpochNumbers{"step",      "epoch",         "train_loss",      "train_accuracy",
                                   "test_loss", "test_accuracy", "validation_loss", "validation_accuracy",
                                   "lr",        "seconds",       "test_mae",        "test_rmse",
                                   "test_r2",   "test_f1_micro", "test_f1_macro",   "test_exact_match"};
constexpr std::size_t kMostMarks = 400, kHistory = 1024;

bool is_position(std::string_view name) { return name == "step" || name == "epoch" || name == "time"; }

// Columns of these names; positions keep the last value where rows are joined.
template <class Names>
std::vector<SeriesColumn> columns_named(const Names& names) {
  std::vector<SeriesColumn> columns;
  for (const char* name : names) columns.push_back({name, is_position(name) ? Joining::last : Joining::mean});
  return columns;
}

// time, the names, then the phases.
std::vector<SeriesColumn> step_columns() {
  std::vector<SeriesColumn> columns{{"time", Joining::last}};
  for (SeriesColumn& column : columns_named(kStepNumbers)) columns.push_back(std::move(column));
  for (SeriesColumn& column : columns_named(kPhases)) columns.push_back(std::move(column));
  return columns;
}

template <class Names>
std::size_t place_of(const Names& names, std::string_view name) {
  return static_cast<std::size_t>(std::ranges::find(names, name) - names.begin());
}

double number_at(const FeedJson& json, const char* name) {
  const auto found = json.find(name);
  return found != json.end() && found->is_number() ? found->get<double>() : kNan;
}

std::string type_of(std::string_view line) {
  constexpr std::string_view kStart = R"({"type":")";
  if (line.starts_with(kStart)) {
    const std::string_view rest = line.substr(kStart.size());
    return std::string(rest.substr(0, rest.find('"')));
  }
  std::string type;
  for_each_member(line, [&](std::string_view name, std::string_view value) {
    if (name == "type") type = plain_text_of(value);
  });
  return type;
}

}  // namespace

void MetricsFeed::start_again() {
  for (const char* name : {"steps", "epochs", "epoch", "marks", "pushes", "worker", "layers", "layer/", "confusion"})
    data_.forget(name);
  marks_.clear();
  pushers_.clear();
  last_time_ = elapsed_ = 0;
}

void MetricsFeed::line(std::string_view line) {
  const std::string type = type_of(line);
  if (type == "step") return step(line);
  if (type == "epoch") return epoch(line);
  if (type == "push") return push(line);
  if (type == "workers") return workers(line);
  if (type == "layers") return layers(line);
  if (type == "confusion") return confusion(line);
  for (const char* known : {"hand_over", "lost", "joined", "resumed", "checkpoint", "diverged", "detached", "paused"})
    if (type == known) return mark(line);
}

// Seconds of training, without the time between the starts of a run. A clock that was set is not followed.
double MetricsFeed::elapsed(double time, double seconds) {
  const double passed = time - last_time_;
  const bool is_believable = last_time_ > 0 && passed >= 0 && passed < 600 + 100 * seconds;
  elapsed_ += is_believable ? passed : seconds;
  if (!std::isnan(time)) last_time_ = time;
  return elapsed_;
}

void MetricsFeed::step(std::string_view line) {
  std::vector<double> row(1 + kStepNumbers.size() + kPhases.size(), kNan);
  double time = kNan, seconds = 0;
  const bool is_whole = for_each_member(line, [&](std::string_view name, std::string_view value) {
    if (name == "time") time = number_of(value);
    if (const std::size_t place = place_of(kStepNumbers, name); place < kStepNumbers.size())
      row[1 + place] = number_of(value);
    if (name != "seconds") return;
    for_each_member(value, [&](std::string_view phase, std::string_view number) {
      const std::size_t place = place_of(kPhases, phase);
      if (place >= kPhases.size()) return;
      row[1 + kStepNumbers.size() + place] = number_of(number);
      if (phase != "hidden_network" && !std::isnan(number_of(number))) seconds += number_of(number);
    });
  });
  if (!is_whole || std::isnan(row[1])) return;
  row[0] = elapsed(time, seconds);
  static const std::vector<SeriesColumn> columns = step_columns();
  data_.add_row("steps", columns, row);
}

void MetricsFeed::epoch(std::string_view line) {
  std::vector<double> row(1 + kEpochNumbers.size(), kNan);
  const bool is_whole = for_each_member(line, [&](std::string_view name, std::string_view value) {
    const std::size_t place = place_of(kEpochNumbers, name);
    if (place < kEpochNumbers.size()) row[1 + place] = number_of(value);
  });
  if (!is_whole || std::isnan(row[1])) return;
  row[0] = elapsed_;
  std::vector<SeriesColumn> columns{{"time", Joining::last}};
  for (SeriesColumn& column : columns_named(kEpochNumbers)) columns.push_back(std::move(column));
  data_.add_row("epochs", columns, row);
  if (FeedJson::accept(line)) data_.set_section("epoch", std::string(line));
}

void MetricsFeed::push(std::string_view line) {
  std::string who;
  double step = kNan, clock = kNan, slowest = kNan;
  for_each_member(line, [&](std::string_view name, std::string_view value) {
    if (name == "worker" || name == "group") who = fmt::format("{} {}", name, value);
    if (name == "step") step = number_of(value);
    if (name == "clock") clock = number_of(value);
    if (name == "slowest") slowest = number_of(value);
  });
  if (who.empty() || who.size() > 40 || std::isnan(clock) || pushers_.size() > 4096) return;
  Pusher& pusher = pushers_[who];
  pusher.step = step;
  pusher.clock = clock;
  pusher.slowest = slowest;
  const double behind = clock - slowest;
  if (behind >= 0 && behind < 1e4) ++pusher.staleness[static_cast<std::int64_t>(behind)];
  has_new_pushes_ = true;
}

void MetricsFeed::workers(std::string_view line) {
  const FeedJson json = FeedJson::parse(line, nullptr, false);
  if (!json.is_object() || !json.contains("workers") || !json["workers"].is_array()) return;
  data_.set_section("workers", std::string(line));
  const double step = number_at(json, "step");
  static const std::vector<SeriesColumn> columns = [] {
    std::vector<SeriesColumn> made = columns_named(std::array{"step", "time"});
    for (SeriesColumn& column : columns_named(kPhases)) made.push_back(std::move(column));
    for (SeriesColumn& column : columns_named(std::array{"steps", "seconds", "caused_seconds", "oars"}))
      made.push_back(std::move(column));
    made.push_back({"clock", Joining::last});
    return made;
  }();
  for (const FeedJson& worker : json["workers"]) {
    const auto number = worker.is_object() ? worker.find("worker") : worker.end();
    if (!worker.is_object() || number == worker.end() || !number->is_number_integer()) continue;
    std::vector<double> row{step, elapsed_};
    const FeedJson seconds = worker.value("seconds", FeedJson::object());
    for (const char* phase : kPhases) row.push_back(seconds.is_object() ? number_at(seconds, phase) : kNan);
    row.push_back(number_at(worker, "steps"));
    row.push_back(number_at(json, "seconds"));
    row.push_back(number_at(worker, "caused_seconds"));
    const auto oars = worker.find("oars");
    const bool has_oars = oars != worker.end() && oars->is_array() && oars->size() == 2 && (*oars)[0].is_number() &&
                          (*oars)[1].is_number();
    row.push_back(has_oars ? (*oars)[1].get<double>() - (*oars)[0].get<double>() : kNan);
    row.push_back(number_at(worker, "clock"));
    data_.add_row(fmt::format("worker/{}", number->get<std::int64_t>()), columns, row, kHistory);
  }
}

void MetricsFeed::layers(std::string_view line) {
  const FeedJson json = FeedJson::parse(line, nullptr, false);
  if (!json.is_object() || !json.contains("parameters") || !json["parameters"].is_array()) return;
  data_.set_section("layers", std::string(line));
  static const std::vector<SeriesColumn> columns =
      columns_named(std::array{"step", "time", "weights", "gradients", "updates"});
  for (const FeedJson& parameter : json["parameters"]) {
    const auto name = parameter.is_object() ? parameter.find("name") : parameter.end();
    if (!parameter.is_object() || name == parameter.end() || !name->is_string()) continue;
    data_.add_row("layer/" + name->get<std::string>(), columns,
                  {number_at(json, "step"), elapsed_, number_at(parameter, "weights"),
                   number_at(parameter, "gradients"), number_at(parameter, "updates")},
                  kHistory);
  }
}

void MetricsFeed::confusion(std::string_view line) {
  if (FeedJson::accept(line)) data_.set_section("confusion", std::string(line));
}

void MetricsFeed::mark(std::string_view line) {
  FeedJson json = FeedJson::parse(line, nullptr, false);
  if (!json.is_object() || number_at(json, "step") != number_at(json, "step")) return;
  if (type_of(line) == "resumed") last_time_ = 0;  // the time since the last step was no training
  json["elapsed"] = elapsed_;
  marks_.push_back({number_at(json, "step"), json.dump(-1, ' ', false, FeedJson::error_handler_t::replace)});
  // Checkpoints are many and say least: the oldest ones go.
  if (marks_.size() > kMostMarks) {
    const auto old = std::ranges::find_if(
        marks_, [](const Mark& each) { return each.json.find(R"("type":"checkpoint")") != std::string::npos; });
    marks_.erase(old == marks_.end() ? marks_.begin() : old);
  }
  has_new_marks_ = true;
}

void MetricsFeed::settle() {
  if (std::exchange(has_new_marks_, false)) {
    std::string json = "[";
    for (const Mark& mark : marks_) json += (json.size() > 1 ? "," : "") + mark.json;
    data_.set_section("marks", json + "]");
  }
  if (std::exchange(has_new_pushes_, false)) {
    FeedJson json = FeedJson::array();
    for (const auto& [who, pusher] : pushers_) {
      FeedJson counts = FeedJson::array();
      for (const auto& [behind, count] : pusher.staleness) counts.push_back({behind, count});
      json.push_back({{"who", who},
                      {"step", pusher.step},
                      {"clock", pusher.clock},
                      {"slowest", pusher.slowest},
                      {"staleness", std::move(counts)}});
    }
    data_.set_section("pushes", json.dump(-1, ' ', false, FeedJson::error_handler_t::replace));
  }
}

}  // namespace trireme::watch
