// Which host each worker runs on.
#pragma once

#include <string>
#include <vector>

namespace trireme::cluster {

// Per worker a host: contiguous blocks of ranks in the order of the hosts, as even as possible. "a:3" stands for a host
// that takes three times the share of one without a number. No hosts: all here (""). A name that cannot be one, a
// weight below 1 and more hosts than workers are user errors.
std::vector<std::string> place(int workers, const std::vector<std::string>& hosts);

}  // namespace trireme::cluster
