// RegistryOf: the implementations of one kind of thing (transports, models, ...), found by name. Rows keep the order in
// which they were added. A Row is any type with a member `name`. A program builds its registries in main() and passes
// them down; a user's own program adds rows to them. Filled once, then read from any thread.
#pragma once

#include <algorithm>
#include <deque>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"

namespace trireme::base {

// A user error with the nearest known name.
[[noreturn]] void no_such_row(std::string_view what, std::string_view name, const std::vector<std::string>& known);

template <class Row>
class RegistryOf {
 public:
  // `what` names one row in errors: "transport".
  explicit RegistryOf(std::string what, std::vector<Row> rows = {}) : what_(std::move(what)) {
    for (Row& row : rows) add(std::move(row));
  }

  // REQUIRES: no row has this name. References to other rows stay valid.
  void add(Row row) {
    check(find(row.name) == nullptr, "there are two rows for {} '{}'", what_, row.name);
    rows_.push_back(std::move(row));
  }

  // Null when there is none.
  const Row* find(std::string_view name) const& {
    const auto found = std::ranges::find_if(rows_, [&](const Row& row) { return row.name == name; });
    return found == rows_.end() ? nullptr : &*found;
  }

  // An unknown name is a user error with the nearest known one.
  const Row& get(std::string_view name) const& {
    if (const Row* row = find(name)) return *row;
    no_such_row(what_, name, names());
  }

  const std::deque<Row>& rows() const& { return rows_; }
  std::vector<std::string> names() const {
    std::vector<std::string> all;
    for (const Row& row : rows_) all.emplace_back(row.name);
    return all;
  }

  // Rows of a temporary would be gone before they could be used.
  const Row* find(std::string_view) const&& = delete;
  const Row& get(std::string_view) const&& = delete;
  const std::deque<Row>& rows() const&& = delete;

 private:
  std::string what_;
  std::deque<Row> rows_;  // its elements stay where they are
};

}  // namespace trireme::base
