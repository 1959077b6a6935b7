// Kernel fingerprint: every distinct kernel of a Program run once, forward and backward, on a fixed input, and its
// results hashed. Machines whose fingerprints agree give the same bits.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "graph/program.h"

namespace trireme::graph {

struct KernelPrint {
  std::string kernel;  // implementation and shapes
  std::uint64_t hash = 0;
};

std::vector<KernelPrint> fingerprint(const Program& program);

}  // namespace trireme::graph
