// The sides of `bench collective`: groups of processes of this host that run the same all-reduce.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "base/cores.h"
#include "cli/bench_peer.h"

namespace trireme::cli {

struct CollectiveCase {
  int world = 2;
  std::string transport, algorithm;
  std::int64_t bytes = 0;
};

// Runs so many of them; the seconds of one, of the slowest rank. The processes live as long as this does.
using CollectiveRun = std::function<double(int count)>;

CollectiveRun start_own(const CollectiveCase& bench, const base::CorePlan& cores);
CollectiveRun start_gloo(const CollectiveCase& bench, const Peer& peer, const base::CorePlan& cores);
// MPI's own all-reduce.
CollectiveRun start_mpi(const CollectiveCase& bench, const base::CorePlan& cores);

// A user error where mpirun, or what it is to start, is missing.
void expect_mpi();

}  // namespace trireme::cli
