// The Toom-Cook passes in plain C++, with the same bits as the others: for tests and for CPUs without AVX2.
#include <cstdint>
#include <utility>

#include "ops/conv/toom_cook/toom_cook_set.h"
#include "ops/vector/block_vectors_generic.h"

namespace trireme::ops::toom_cook {
namespace {

struct Generic : BlockVectorsGeneric {
  static constexpr int kTileRows = 3, kChannelRows = 4;
};

}  // namespace

const Passes kGenericPasses = set_of<Generic>();

const Passes& passes(base::Isa isa) { return base::for_isa(isa, kGenericPasses, kAvx2Passes, kAvx512Passes); }

}  // namespace trireme::ops::toom_cook
