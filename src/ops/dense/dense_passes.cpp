#include "ops/dense/dense_passes.h"

#include <algorithm>

namespace trireme::ops::dense_passes {

const Passes& passes(base::Isa isa) { return base::for_isa(isa, kGeneric, kAvx2, kAvx512); }

std::int64_t dots_panel_floats(std::int64_t m, std::int64_t k) {
  return std::min(std::min(m, kMostRows) * round_up(k), kPanelFloats);
}

std::int64_t sums_panel_floats(std::int64_t terms, std::int64_t k) {
  return std::min(terms, kMostTerms) * (kMostSumRows + std::min(kSumBlock, round_up(k, kMostSumColumns * kLanes)));
}

}  // namespace trireme::ops::dense_passes
