// Host placement: decides which host each worker runs on.
// Thread-safe.
#pragma once

#include <string>
#include <vector>

namespace trireme::cluster {

// Returns the host of each worker: contiguous blocks of ranks in the order of the hosts, as even as possible. "a:3" is
// a host with weight 3: it gets three times the workers of a host without a weight. Without hosts, all workers run on
// this machine (""). Invalid names, weights below 1 and more hosts than workers are user errors.
std::vector<std::string> place(int workers, const std::vector<std::string>& hosts);

}  // namespace trireme::cluster
