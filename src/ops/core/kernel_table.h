// KernelTable: the tuning table, which overrides the built-in choice of algorithm for some layers.
// Immutable after construction, except for choose(), which takes one caller at a time.
//
// The user names the table, and like the seed it is part of the experiment: the same table gives the same bits
// everywhere. One row per line: instruction set | layer | algorithm; lines that begin with # are comments.
//   avx512 | conv 64x32x32 to 64, kernel 3x3, stride 1x1, padding 1x1, groups 1 | winograd
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/cpu/simd.h"

namespace trireme::ops {

// The algorithms that can compute a layer, the built-in choice first; empty when there is nothing to choose.
struct KernelChoices {
  std::string layer;  // as the table names it
  std::vector<std::string> algorithms;
};

class KernelTable {
 public:
  // `source` names the text in errors. A malformed row is a user error.
  static KernelTable parse(std::string_view text, const std::string& source);

  void choose(base::Isa isa, const std::string& layer, const std::string& algorithm);
  // The table's algorithm for the layer, or the first choice if the table has no row for it. A row with an algorithm
  // that is not among the choices is a user error.
  const std::string& pick(base::Isa isa, const KernelChoices& choices) const;

  const std::string& source() const { return source_; }
  std::size_t size() const { return rows_.size(); }
  std::string text() const;
  // The hash of the rows; comments and the order of the lines do not matter.
  std::string sha256() const;

 private:
  std::map<std::pair<std::string, std::string>, std::string> rows_;  // (instruction set, layer) -> algorithm
  std::string source_ = "built-in";
};

}  // namespace trireme::ops
