// FeedData: what the page shows of a run: tables that grow, and sections that are replaced as a whole.
// One thread at a time.
//
// Sections are JSON texts. A browser is sent the rows and sections that it does not have yet (live_session.h).
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "watch/page/feed/series_table.h"

namespace trireme::watch {

class FeedData {
 public:
  struct Section {
    std::string json;
    std::uint64_t version = 0;
  };

  const std::map<std::string, SeriesTable>& tables() const { return tables_; }
  const std::map<std::string, Section>& sections() const { return sections_; }
  // Grows with every change.
  std::uint64_t version() const { return version_; }

  // The table, made if it is not there yet. `columns` are those of a new one.
  SeriesTable& table(const std::string& name, const std::vector<SeriesColumn>& columns, std::size_t most_rows);
  void add_row(const std::string& table, const std::vector<SeriesColumn>& columns, const std::vector<double>& row,
               std::size_t most_rows = SeriesTable::kMostRows);
  // Does nothing if the section is like that already.
  void set_section(const std::string& name, std::string json);
  // Empties the tables whose names begin like that, and removes such sections.
  void forget(const std::string& prefix);

  // More of them than a page can show, as a damaged file might name.
  static constexpr std::size_t kMostTables = 4096;

 private:
  std::map<std::string, SeriesTable> tables_;
  std::map<std::string, Section> sections_;
  std::uint64_t version_ = 1;
};

}  // namespace trireme::watch
