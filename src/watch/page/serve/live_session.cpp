#include "watch/page/serve/live_session.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

namespace trireme::watch {
namespace {

constexpr std::array kCurveTables{"steps", "epochs"};
constexpr std::array kCurveSections{"run", "state", "marks", "summary"};

std::string quoted(const std::string& text) {
  return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

void append_member(std::string& json, const std::string& name) {
  if (json.back() != '{') json += ',';
  json += quoted(name) + ":";
}

}  // namespace

std::string LiveSession::news_of(const FeedData& data, SentRun& sent, bool all) const {
  if (sent.version == data.version()) return {};
  sent.version = data.version();
  std::string tables = "{", sections = "{";
  for (const auto& [name, table] : data.tables()) {
    if (!all && std::ranges::find(kCurveTables, name) == kCurveTables.end()) continue;
    SentTable& last = sent.tables[name];
    const bool is_same = last.generation == table.generation();
    const std::size_t first = is_same ? last.rows : 0;
    if (is_same && first == table.rows()) continue;
    append_member(tables, name);
    tables += "{";
    if (first == 0) {
      tables += "\"columns\":[";
      for (const SeriesColumn& column : table.columns())
        tables += (tables.back() == '[' ? "" : ",") + quoted(column.name);
      tables += "],";
    }
    tables += fmt::format("\"every\":{},\"first\":{},\"rows\":", table.every(), first);
    tables += table.json_from(first);
    tables += "}";
    last = {table.generation(), table.rows()};
  }
  for (const auto& [name, section] : data.sections()) {
    if (!all && std::ranges::find(kCurveSections, name) == kCurveSections.end()) continue;
    if (std::uint64_t& last = sent.sections[name]; last != section.version)
      last = section.version;
    else
      continue;
    append_member(sections, name);
    sections += section.json;
  }
  if (tables == "{" && sections == "{") return {};
  return fmt::format("{{\"tables\":{}}},\"sections\":{}}}}}", tables, sections);
}

std::string LiveSession::next(FeedHub& hub) {
  std::string json = "{";
  if (const std::optional<std::string> list = hub.newer_list(list_version_)) {
    append_member(json, "list");
    json += *list;
  }
  std::string runs = "{";
  for (const std::string& run : runs_)
    hub.look_at(run, [&](const FeedData* data) {
      if (data == nullptr) return;
      const std::string news = news_of(*data, sent_[run], run == detail_);
      if (news.empty()) return;
      append_member(runs, run);
      runs += news;
    });
  if (runs != "{") {
    append_member(json, "runs");
    json += runs + "}";
  }
  return json == "{" ? std::string() : json + "}";
}

}  // namespace trireme::watch
