#include "watch/page/feed/feed_data.h"

namespace trireme::watch {

SeriesTable& FeedData::table(const std::string& name, const std::vector<SeriesColumn>& columns, std::size_t most_rows) {
  return tables_.try_emplace(name, columns, most_rows).first->second;
}

void FeedData::add_row(const std::string& name, const std::vector<SeriesColumn>& columns,
                       const std::vector<double>& row, std::size_t most_rows) {
  if (tables_.size() >= kMostTables && !tables_.contains(name)) return;
  table(name, columns, most_rows).add(row);
  ++version_;
}

void FeedData::set_section(const std::string& name, std::string json) {
  Section& section = sections_[name];
  if (section.json == json) return;
  section.json = std::move(json);
  section.version = ++version_;
}

void FeedData::forget(const std::string& prefix) {
  for (auto& [name, table] : tables_)
    if (name.starts_with(prefix)) table.clear();
  for (auto& [name, section] : sections_)
    if (name.starts_with(prefix)) {
      section.json = "null";
      section.version = ++version_;
    }
  ++version_;
}

}  // namespace trireme::watch
