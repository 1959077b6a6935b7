// fingerprint(): runs every distinct kernel of a Program once on a fixed input, forward and backward, and hashes the
// results. Machines whose fingerprints agree give the same bits. Thread-safe.
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
