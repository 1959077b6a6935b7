#include "strategy/phases.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "base/text/nearest.h"
#include "base/text/text.h"

namespace trireme::strategy {
namespace {

constexpr const char* kWhat = "--strategy";
constexpr const char* kSwitch = "switch";
constexpr std::int64_t kMostSteps = 1'000'000'000;  // of a switch's time, in steps or epochs

StrategyConfigPtr configure(const StrategyRegistry& strategies, const std::string& text, const WorkerSet& workers) {
  base::Spec spec("strategy", text);
  const StrategyRow* row = strategies.find(spec.name());
  if (row == nullptr) {
    if (spec.name() == kSwitch)
      base::user_error("{}: a switch cannot contain a switch; give several at and to in one switch", kWhat);
    std::vector<std::string> names = strategies.names();
    names.emplace_back(kSwitch);
    base::user_error("{}", base::unknown_name("strategy", spec.name(), names));
  }
  StrategyConfigPtr config = row->configure(spec, workers);
  spec.finish();
  return config;
}

// When a switch happens: "50%", "3epochs", "200steps".
struct SwitchTime {
  std::string text;
  double share = 0;  // fraction of the run; the three are added
  std::int64_t epochs = 0, steps = 0;

  std::int64_t step(const RunLength& length) const {
    const double run = share * static_cast<double>(length.total_steps);
    const std::int64_t step = std::llround(run) + epochs * length.steps_per_epoch + steps;
    if (step > length.total_steps)
      base::user_error("{}: at={} is step {}, but the run has {} steps", kWhat, text, step, length.total_steps);
    return step;
  }
};

SwitchTime parse_switch_time(const std::string& text) {
  const auto before = [&](std::string_view unit) -> std::string {
    return text.ends_with(unit) ? text.substr(0, text.size() - unit.size()) : "";
  };
  const auto count = [&](const std::string& number) {
    const std::int64_t value = base::parse_int("--strategy: at", number);
    if (value < 0 || value > kMostSteps)
      base::user_error("{}: at is '{}', expected 0 to {} steps or epochs", kWhat, text, kMostSteps);
    return value;
  };
  SwitchTime time{text};
  if (!before("%").empty())
    time.share = base::parse_fraction("--strategy: at", text);
  else if (const std::string epochs = before("epochs"); !epochs.empty())
    time.epochs = count(epochs);
  else if (const std::string steps = before("steps"); !steps.empty())
    time.steps = count(steps);
  else
    base::user_error("{}: at is '{}', expected a share of the run as 50%, 3epochs or 200steps", kWhat, text);
  return time;
}

// The options of a switch. An option that the switch does not know belongs to the strategy named before it.
struct Switch {
  std::vector<SwitchTime> at{};
  std::vector<std::string> strategies{};
  std::vector<bool> keeps_state{};  // at each switch
};

// True when the strategy that `text` names has this option as well.
bool has_option(const StrategyRegistry& strategies, const std::string* text, const std::string& key) {
  const StrategyRow* row = text != nullptr ? strategies.find(text->substr(0, text->find(':'))) : nullptr;
  return row != nullptr && row->has_option(key);
}

Switch read_switch(const StrategyRegistry& strategies, std::string_view text) {
  Switch read;
  std::string from = "allreduce";
  std::vector<std::string> to;
  std::string* last = nullptr;
  bool has_from = false;
  for (const std::string& option : text.empty() ? std::vector<std::string>() : base::split(text, ',')) {
    const std::size_t equals = option.find('=');
    const std::string key = option.substr(0, equals),
                      value = equals == std::string::npos ? "" : option.substr(equals + 1);
    if (key == "at") {
      read.at.push_back(parse_switch_time(value));
    } else if (key == "from") {
      if (has_from) base::user_error("{}: switch has one from, the first strategy; others are named by to", kWhat);
      has_from = true;
      from = value;
      last = &from;
    } else if (key == "to") {
      to.push_back(value);
      last = &to.back();
    } else if (key == "state" && !has_option(strategies, last, key)) {
      if (value != "keep" && value != "reset")
        base::user_error("{}: state is '{}', expected keep or reset", kWhat, value);
      read.keeps_state.push_back(value == "keep");
    } else if (last != nullptr) {
      *last += (last->find(':') == std::string::npos ? ":" : ",") + option;
    } else {
      base::user_error("{}: switch does not know '{}'; it takes at, from, to and state", kWhat, option);
    }
  }
  if (to.empty()) to.emplace_back("ps:mode=async");
  if (read.at.empty()) read.at.push_back(parse_switch_time("50%"));
  if (read.at.size() != to.size())
    base::user_error("{}: {} switches need {} strategies, one from and {} to; {} are given", kWhat, read.at.size(),
                     read.at.size() + 1, read.at.size(), to.size() + 1);
  if (read.keeps_state.size() > to.size())
    base::user_error("{}: {} switches have {} state, at most one for each", kWhat, to.size(), read.keeps_state.size());
  read.keeps_state.resize(to.size(), true);
  read.strategies.push_back(from);
  read.strategies.insert(read.strategies.end(), to.begin(), to.end());
  return read;
}

bool is_switch(std::string_view text) { return text == "switch" || text.starts_with("switch:"); }
std::string_view options_of(std::string_view text) {
  const std::size_t colon = text.find(':');
  return colon == std::string_view::npos ? std::string_view() : text.substr(colon + 1);
}

}  // namespace

std::vector<Phase> parse_phases(const StrategyRegistry& strategies, std::string_view text, const RunLength& length) {
  if (!is_switch(text)) {
    const std::string one(text);
    return {{one, configure(strategies, one, length.workers), length.total_steps, true}};
  }
  const Switch read = read_switch(strategies, options_of(text));
  std::vector<Phase> phases;
  for (std::size_t i = 0; i < read.strategies.size(); ++i) {
    const std::int64_t until = i < read.at.size() ? read.at[i].step(length) : length.total_steps;
    if (!phases.empty() && until < phases.back().until)
      base::user_error("{}: switches must come in order; at={} is before at={}", kWhat, read.at[i].text,
                       read.at[i - 1].text);
    const std::string& one = read.strategies[i];
    phases.push_back({one, configure(strategies, one, length.workers), until, i == 0 || read.keeps_state[i - 1]});
  }
  return phases;
}

std::vector<NamedConfig> parse_configs(const StrategyRegistry& strategies, std::string_view text, int workers) {
  const std::vector<std::string> texts =
      is_switch(text) ? read_switch(strategies, options_of(text)).strategies : std::vector{std::string(text)};
  std::vector<NamedConfig> configs;
  for (const std::string& one : texts) configs.push_back({one, configure(strategies, one, {workers, {}})});
  return configs;
}

bool needs_servers(const StrategyRegistry& strategies, std::string_view text) {
  return std::ranges::any_of(parse_configs(strategies, text, 0),
                             [](const NamedConfig& one) { return one.config->traits().needs_servers; });
}

StrategyRow switch_row() {
  return {kSwitch,
          "one strategy after the other in one run, without a restart; at and to may be repeated",
          {{"at", "50%", "when: a share of the run, 3epochs or 200steps"},
           {"from", "allreduce", "the first strategy, with its options"},
           {"to", "ps:mode=async", "the next strategy, with its options"},
           {"state", "keep|reset", "the optimizer's state at the switch"}},
          nullptr};
}

}  // namespace trireme::strategy
