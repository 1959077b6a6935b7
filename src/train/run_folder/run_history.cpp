#include "train/run_folder/run_history.h"

#include <algorithm>
#include <array>
#include <ctime>
#include <nlohmann/json.hpp>

#include "base/system/beside_program.h"
#include "base/text/text.h"
#include "cluster/launcher/start_on_host.h"
#include "observe/resources.h"

namespace trireme::train {
namespace {

std::string utc_now() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  ::gmtime_r(&now, &parts);
  std::array<char, 32> text{};
  const std::size_t size = std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%SZ", &parts);
  return {text.data(), size};
}

}  // namespace

RunStart start_now(std::int64_t step) {
  std::vector<std::string> words;
  for (const std::string& word : base::command_line()) words.push_back(cluster::quoted(word));
  return {utc_now(), observe::host_name(), base::join(words, " "), step, {}};
}

bool is_about_place(const std::string& option) {
  constexpr std::array kPlace{"run", "resume", "config", "json", "quiet", "allow-other-bits"};
  if (option == "watch-layers") return false;  // a resumed run goes on with it
  return option.starts_with("watch") || std::ranges::find(kPlace, option) != kPlace.end();
}

std::vector<RunStart::Change> changes_between(const base::Settings& before, const base::Settings& now) {
  std::vector<RunStart::Change> changes;
  for (const auto& [option, value] : now.all())
    if (!is_about_place(option) && before.text(option) != value)
      changes.push_back({option, before.text(option), value});
  return changes;
}

std::string to_json(const std::vector<RunStart>& starts) {
  auto list = nlohmann::ordered_json::array();
  for (const RunStart& start : starts) {
    nlohmann::ordered_json one{
        {"date", start.date}, {"host", start.host}, {"command", start.command}, {"step", start.step}};
    one["changes"] = nlohmann::ordered_json::array();
    for (const RunStart::Change& change : start.changes)
      one["changes"].push_back({{"option", change.option}, {"from", change.from}, {"to", change.to}});
    list.push_back(std::move(one));
  }
  return list.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

std::vector<RunStart> starts_from_json(const std::string& text) try {
  std::vector<RunStart> starts;
  for (const auto& one : nlohmann::json::parse(text)) {
    RunStart start{one.at("date"), one.at("host"), one.at("command"), one.at("step"), {}};
    for (const auto& change : one.at("changes"))
      start.changes.push_back({change.at("option"), change.at("from"), change.at("to")});
    starts.push_back(std::move(start));
  }
  return starts;
} catch (const nlohmann::json::exception&) {
  return {};
}

}  // namespace trireme::train
