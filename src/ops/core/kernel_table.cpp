#include "ops/core/kernel_table.h"

#include <algorithm>

#include "base/error.h"
#include "base/hash.h"
#include "base/text/text.h"

namespace trireme::ops {
namespace {

std::string trimmed(const std::string& text) {
  const auto first = text.find_first_not_of(" \t\r"), last = text.find_last_not_of(" \t\r");
  return first == std::string::npos ? "" : text.substr(first, last - first + 1);
}

bool isa_exists(const std::string& name) {
  for (const base::Isa isa : {base::Isa::generic, base::Isa::avx2, base::Isa::avx512})
    if (name == base::isa_name(isa)) return true;
  return false;
}

}  // namespace

KernelTable KernelTable::parse(std::string_view text, const std::string& source) {
  KernelTable table;
  table.source_ = source;
  int number = 0;
  for (const std::string& line : base::split(text, '\n')) {
    ++number;
    const std::string row = trimmed(line);
    if (row.empty() || row.starts_with('#')) continue;
    const auto cells = base::split(row, '|');
    if (cells.size() != 3)
      base::user_error("{}, line {}: expected 'instruction set | layer | algorithm', got '{}'", source, number, row);
    const std::string isa = trimmed(cells[0]);
    if (!isa_exists(isa)) base::user_error("{}, line {}: there is no instruction set '{}'", source, number, isa);
    table.rows_[{isa, trimmed(cells[1])}] = trimmed(cells[2]);
  }
  return table;
}

void KernelTable::choose(base::Isa isa, const std::string& layer, const std::string& algorithm) {
  rows_[{std::string(base::isa_name(isa)), layer}] = algorithm;
}

const std::string& KernelTable::pick(base::Isa isa, const KernelChoices& choices) const {
  const auto row = rows_.find({std::string(base::isa_name(isa)), choices.layer});
  if (row == rows_.end()) return choices.algorithms.front();
  const auto found = std::find(choices.algorithms.begin(), choices.algorithms.end(), row->second);
  if (found == choices.algorithms.end())
    base::user_error("{}: '{}' cannot compute '{}'; it can be computed with {}", source_, row->second, choices.layer,
                     base::join(choices.algorithms, " or "));
  return *found;
}

std::string KernelTable::text() const {
  std::string all;
  for (const auto& [key, algorithm] : rows_) all += fmt::format("{} | {} | {}\n", key.first, key.second, algorithm);
  return all;
}

std::string KernelTable::sha256() const { return base::sha256_hex(std::as_bytes(std::span<const char>(text()))); }

}  // namespace trireme::ops
