#include "strategy/spec.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "base/error.h"
#include "base/nearest.h"
#include "base/text.h"
#include "strategy/team.h"

namespace trireme::strategy {
namespace {

constexpr const char* kWhat = "--strategy";
constexpr std::int64_t kMostSteps = 1'000'000'000;  // of a moment, in steps or epochs
constexpr std::int64_t kMostStaleness = 1'000'000;

std::int64_t bucket_bytes(base::Spec& spec) {
  const std::int64_t kilobytes = spec.integer("bucket", 0);
  if (kilobytes < 0 || kilobytes > 1 << 20)
    base::user_error("{}: bucket is {} KB, expected 1 to 1048576 (0: the default)", kWhat, kilobytes);
  return kilobytes << 10;
}

void read_async(base::Spec& spec, const std::string& mode, Plan& plan) {
  const auto staleness = [&](const char* key, std::int64_t otherwise) {
    const std::int64_t value = spec.integer(key, otherwise);
    if (value < 0 || value > kMostStaleness)
      base::user_error("{}: {} is {}, expected 0 to {}", kWhat, key, value, kMostStaleness);
    return value;
  };
  if (mode == "ssp") plan.bound.low = plan.bound.high = staleness("staleness", 3);
  if (mode == "dssp") {
    plan.bound = {staleness("low", 3), staleness("high", 15)};
    if (plan.bound.high < plan.bound.low)
      base::user_error("{}: high is {}, expected at least low, which is {}", kWhat, plan.bound.high, plan.bound.low);
  }
  const std::string scale = spec.word("lr-scale", "auto");
  if (scale == "auto") return;
  plan.lr_scale = base::parse_double("--strategy: lr-scale", scale);
  if (!(plan.lr_scale > 0)) base::user_error("{}: lr-scale is {}, expected more than 0", kWhat, scale);
}

void read_local(base::Spec& spec, Plan& plan) {
  LocalOptions& local = plan.local;
  local.every = spec.integer("every", local.every);
  local.drift = spec.number("drift", local.drift);
  if (local.every < 0)
    base::user_error("{}: every is {}, expected steps, or 0 for none with drift alone", kWhat, local.every);
  if (!(local.drift >= 0)) base::user_error("{}: drift is {}, expected 0 (none) or more", kWhat, local.drift);
  if (local.every == 0 && local.drift == 0)
    base::user_error("{}: local with every=0 never averages; give drift as well, as in local:every=0,drift=0.05",
                     kWhat);
  const std::string by = spec.word("by", "workers"), state = spec.word("state", "average");
  if (by != "workers" && by != "servers") base::user_error("{}: by is '{}', expected workers or servers", kWhat, by);
  local.by_servers = by == "servers";
  plan.ps.returns_gradients = local.by_servers;
  if (state != "average" && state != "keep" && state != "reset")
    base::user_error("{}: state is '{}', expected average, keep or reset", kWhat, state);
  local.state = state == "average" ? StateAtAverage::average
                : state == "keep"  ? StateAtAverage::keep
                                   : StateAtAverage::reset;
}

void read_groups(base::Spec& spec, const RunLength& length, Plan& plan) {
  plan.ps.synchronous = false;
  const bool by_count = !spec.word("count", "").empty();
  const std::int64_t count = spec.integer("count", 1);
  const std::string by = spec.word("by", by_count ? "" : "host");
  if (!by.empty() && by != "host") base::user_error("{}: by is '{}', expected host, or count=2 instead", kWhat, by);
  if (by_count && !by.empty()) base::user_error("{}: groups takes count or by=host, not both", kWhat);
  const bool too_many = length.workers > 0 && count > length.workers;
  if (count < 1 || too_many)
    base::user_error("{}: count is {} groups, expected at least 1 and at most one for each of the {} workers", kWhat,
                     count, std::max(length.workers, 1));
  const int workers = length.workers > 0 ? length.workers : static_cast<int>(count);
  plan.groups = by_count               ? groups_by_count(workers, static_cast<int>(count))
                : length.hosts.empty() ? groups_by_count(workers, 1)
                                       : groups_by_host(length.hosts);
  const std::string staleness = spec.word("staleness", "none");
  read_async(spec, staleness == "none" ? "async" : "ssp", plan);
}

Plan make_plan(const std::string& text, const RunLength& length) {
  base::Spec spec("strategy", text);
  Plan plan;
  plan.text = text;
  if (spec.name() == "single") {
    plan.way = Way::single;
  } else if (spec.name() == "allreduce") {
    plan.way = Way::all_reduce;
    plan.all_reduce.algorithm = comm::parse_algorithm(spec.word("algorithm", "auto"));
    plan.all_reduce.bucket_bytes = bucket_bytes(spec);
  } else if (spec.name() == "ps") {
    plan.way = Way::ps;
    const std::string mode = spec.word("mode", "sync");
    const std::vector<std::string> modes{"sync", "async", "ssp", "dssp"};
    if (std::find(modes.begin(), modes.end(), mode) == modes.end())
      base::user_error("{}", base::unknown_name("mode of ps", mode, modes));
    plan.ps.synchronous = mode == "sync";
    plan.ps.bucket_bytes = bucket_bytes(spec);
    if (plan.ps.synchronous) {
      const std::string back = spec.word("return", "weights");
      if (back != "weights" && back != "gradients")
        base::user_error("{}: return is '{}', expected weights or gradients", kWhat, back);
      plan.ps.returns_gradients = back == "gradients";
      const std::int64_t levels = spec.integer("levels", 1);
      if (levels != 1 && levels != 2) base::user_error("{}: levels is {}, expected 1 or 2", kWhat, levels);
      if (levels == 2)
        plan.ps.teams =
            length.hosts.empty() ? groups_by_count(std::max(length.workers, 1), 1) : teams_by_host(length.hosts);
    } else {
      read_async(spec, mode, plan);
    }
  } else if (spec.name() == "groups") {
    plan.way = Way::groups;
    read_groups(spec, length, plan);
  } else if (spec.name() == "local") {
    plan.way = Way::local;
    read_local(spec, plan);
  } else if (spec.name() == "switch") {
    base::user_error("{}: a switch has no switch in it; name several at and to in one", kWhat);
  } else {
    std::vector<std::string> names;
    for (const StrategyInfo& info : strategy_list()) names.push_back(info.name);
    base::user_error("{}", base::unknown_name("strategy", spec.name(), names));
  }
  spec.finish();
  return plan;
}

// When a switch happens: "50%", "3epochs", "200steps".
struct Moment {
  std::string text;
  double share = 0;  // of the run,
  std::int64_t epochs = 0, steps = 0;

  std::int64_t step(const RunLength& length) const {
    const double run = share * static_cast<double>(length.total_steps);
    const std::int64_t step = std::llround(run) + epochs * length.steps_per_epoch + steps;
    if (step > length.total_steps)
      base::user_error("{}: at={} is step {}, but the run has {} steps", kWhat, text, step, length.total_steps);
    return step;
  }
};

Moment parse_moment(const std::string& text) {
  const auto before = [&](std::string_view unit) -> std::string {
    return text.ends_with(unit) ? text.substr(0, text.size() - unit.size()) : "";
  };
  const auto count = [&](const std::string& number) {
    const std::int64_t value = base::parse_int("--strategy: at", number);
    if (value < 0 || value > kMostSteps)
      base::user_error("{}: at is '{}', expected 0 to {} steps or epochs", kWhat, text, kMostSteps);
    return value;
  };
  Moment moment{text};
  if (!before("%").empty())
    moment.share = base::parse_fraction("--strategy: at", text);
  else if (const std::string epochs = before("epochs"); !epochs.empty())
    moment.epochs = count(epochs);
  else if (const std::string steps = before("steps"); !steps.empty())
    moment.steps = count(steps);
  else
    base::user_error("{}: at is '{}', expected a share of the run as 50%, 3epochs or 200steps", kWhat, text);
  return moment;
}

// A switch's options and those of the strategies in it: what no switch knows belongs to the strategy named before.
struct Switch {
  std::vector<Moment> at{};
  std::vector<std::string> plans{};
  std::vector<bool> keeps_state{};  // at each switch
};

// It has a `state` of its own.
bool is_local(const std::string* plan) { return plan != nullptr && (*plan == "local" || plan->starts_with("local:")); }

Switch read_switch(std::string_view text) {
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
      read.at.push_back(parse_moment(value));
    } else if (key == "from") {
      if (has_from) base::user_error("{}: switch has one from, the first strategy; others are named by to", kWhat);
      has_from = true;
      from = value;
      last = &from;
    } else if (key == "to") {
      to.push_back(value);
      last = &to.back();
    } else if (key == "state" && !is_local(last)) {
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
  if (read.at.empty()) read.at.push_back(parse_moment("50%"));
  if (read.at.size() != to.size())
    base::user_error("{}: {} switches need {} strategies, one from and {} to; {} are given", kWhat, read.at.size(),
                     read.at.size() + 1, read.at.size(), to.size() + 1);
  if (read.keeps_state.size() > to.size())
    base::user_error("{}: {} switches have {} state, at most one for each", kWhat, to.size(), read.keeps_state.size());
  read.keeps_state.resize(to.size(), true);
  read.plans.push_back(from);
  read.plans.insert(read.plans.end(), to.begin(), to.end());
  return read;
}

bool is_switch(std::string_view text) { return text == "switch" || text.starts_with("switch:"); }
std::string_view options_of(std::string_view text) {
  const std::size_t colon = text.find(':');
  return colon == std::string_view::npos ? std::string_view() : text.substr(colon + 1);
}

}  // namespace

std::vector<Phase> parse_strategy(std::string_view text, const RunLength& length) {
  if (!is_switch(text)) return {{make_plan(std::string(text), length), length.total_steps, true}};
  const Switch read = read_switch(options_of(text));
  std::vector<Phase> phases;
  for (std::size_t i = 0; i < read.plans.size(); ++i) {
    const std::int64_t until = i < read.at.size() ? read.at[i].step(length) : length.total_steps;
    if (!phases.empty() && until < phases.back().until)
      base::user_error("{}: switches must come in order; at={} is before at={}", kWhat, read.at[i].text,
                       read.at[i - 1].text);
    phases.push_back({make_plan(read.plans[i], length), until, i == 0 || read.keeps_state[i - 1]});
  }
  return phases;
}

int Plan::rower_of(int worker) const {
  const auto has = [&](const std::vector<int>& group) { return std::ranges::find(group, worker) != group.end(); };
  return groups.empty() ? worker : static_cast<int>(std::ranges::find_if(groups, has) - groups.begin());
}

std::vector<int> Plan::leaders() const {
  std::vector<int> leaders;
  for (const std::vector<int>& group : groups.empty() ? ps.teams : groups) leaders.push_back(group.front());
  return leaders;
}

std::vector<Plan> parse_plans(std::string_view text, int workers) {
  const RunLength length{1, 1, workers, {}};
  if (!is_switch(text)) return {make_plan(std::string(text), length)};
  std::vector<Plan> plans;
  for (const std::string& plan : read_switch(options_of(text)).plans) plans.push_back(make_plan(plan, length));
  return plans;
}

bool needs_servers(std::string_view text) { return std::ranges::any_of(parse_plans(text, 0), &Plan::needs_servers); }

std::vector<StrategyInfo> strategy_list() {
  return {
      {"single", "", "one worker"},
      {"allreduce", "algorithm=auto,bucket=2048",
       "every worker holds all weights; gradients are added over all of them; same bits as single"},
      {"ps", "mode=sync|async|ssp|dssp,staleness=3,low=3,high=15,lr-scale=auto,return=weights,levels=1,bucket=2048",
       "servers hold the weights; sync has the bits of single, the others let fast workers go ahead"},
      {"groups", "count=2|by=host,staleness=none,lr-scale=auto",
       "in step inside a group, asynchronous between groups: a group pushes to the servers as one worker does"},
      {"local", "every=8,drift=0,by=workers|servers,state=average|keep|reset",
       "every worker updates weights of its own, which are averaged every so many steps or when they drift apart"},
      {"switch", "at=50%,from=allreduce,to=ps:mode=async,state=keep",
       "one strategy after the other in one run, without a restart; several at and to"},
  };
}

}  // namespace trireme::strategy
