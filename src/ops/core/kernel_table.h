// The tuning table: which algorithm a layer gets where the built-in rule shall not decide. It is named by the user and
// part of the experiment like the seed: the same table gives the same bits everywhere.
//
// One row per line: instruction set | layer | algorithm; lines that begin with # say something to people.
//   avx512 | conv 64x32x32 to 64, kernel 3x3, stride 1x1, padding 1x1, groups 1 | winograd
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/cpu/simd.h"

namespace trireme::ops {

// What a layer could be computed with, the built-in choice first. Without a choice there are no rows for it.
struct KernelChoices {
  std::string layer;  // as the table names it
  std::vector<std::string> algorithms;
};

class KernelTable {
 public:
  // `source` names the text in errors. A row that cannot be read is a user error.
  static KernelTable parse(std::string_view text, const std::string& source);

  void choose(base::Isa isa, const std::string& layer, const std::string& algorithm);
  // The table's algorithm for the layer, if it is one of the choices, else the first choice. A row that names an
  // algorithm which cannot compute the layer is a user error.
  const std::string& pick(base::Isa isa, const KernelChoices& choices) const;

  const std::string& source() const { return source_; }
  std::size_t size() const { return rows_.size(); }
  std::string text() const;
  // Of the rows; their order and the comments do not matter.
  std::string sha256() const;

 private:
  std::map<std::pair<std::string, std::string>, std::string> rows_;  // (instruction set, layer) -> algorithm
  std::string source_ = "built-in";
};

}  // namespace trireme::ops
