#include "base/oar_tree.h"

#include <bit>

namespace trireme::base {

int oar_split(int size) { return static_cast<int>(std::bit_floor(static_cast<unsigned>(size - 1))); }

namespace {

void collect(Range node, Range held, std::vector<Range>& partials) {
  if (node.end <= held.begin || held.end <= node.begin) return;
  if (held.begin <= node.begin && node.end <= held.end) {
    partials.push_back(node);
    return;
  }
  const std::int64_t middle = node.begin + oar_split(static_cast<int>(node.size()));
  collect({node.begin, middle}, held, partials);
  collect({middle, node.end}, held, partials);
}

}  // namespace

std::vector<Range> oar_partials(int oars, Range held) {
  std::vector<Range> partials;
  collect({0, oars}, held, partials);
  return partials;
}

}  // namespace trireme::base
