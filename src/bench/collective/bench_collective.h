// The sides of `bench collective`: groups of processes on this host that run the same all-reduce. One caller at a time.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "base/cpu/cores.h"
#include "bench/peer/bench_peer.h"
#include "comm/transport/transport.h"

namespace trireme::bench {

struct CollectiveCase {
  int world = 2;
  const comm::Transport* transport = nullptr;
  std::string algorithm;  // of the all-reduce, or kExact
  std::int64_t bytes = 0;
  int partials = 1;  // for the exact one: partial sums of the rank that has the most
};
inline constexpr const char* kExact = "exact";

// The cost of one all-reduce.
struct CollectiveTime {
  double seconds = 0;      // of the slowest rank
  double cpu_seconds = 0;  // of all ranks; 0 if the side does not report it
};
// Runs `count` all-reduces, or idles for `seconds`. Owns the processes.
struct CollectiveRun {
  std::function<CollectiveTime(int count)> run;
  std::function<CollectiveTime(double seconds)> idle;
};

CollectiveRun start_own(const CollectiveCase& bench, const base::CorePlan& cores);
CollectiveRun start_gloo(const CollectiveCase& bench, const Peer& peer, const base::CorePlan& cores);
// MPI's own all-reduce.
CollectiveRun start_mpi(const CollectiveCase& bench, const base::CorePlan& cores);

// User errors if a requirement of the transport, or of MPI's own all-reduce, is not installed.
void expect_installed(const comm::Transport& transport);
void expect_mpi_peer();

}  // namespace trireme::bench
