#include "ops/dense_passes.h"

#include <algorithm>

namespace trireme::ops::dense_passes {

const Passes& passes(base::Isa isa) {
  switch (isa) {
    case base::Isa::avx512: return kAvx512;
    case base::Isa::avx2: return kAvx2;
    case base::Isa::generic: return kGeneric;
  }
  return kGeneric;
}

std::int64_t dots_panel_floats(std::int64_t m, std::int64_t k) {
  return std::min(std::min(m, kMostRows) * round_up(k), kPanelFloats);
}

std::int64_t sums_panel_floats(std::int64_t terms, std::int64_t k) {
  return std::min(terms, kMostTerms) * (kMostSumRows + std::min(kSumBlock, round_up(k, kMostSumColumns * kLanes)));
}

}  // namespace trireme::ops::dense_passes
