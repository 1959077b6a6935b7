// The transports that come with the program. Pure functions.
#pragma once

#include <string>
#include <vector>

#include "comm/transport/transport.h"

namespace trireme::comm {

// All of them, in the order in which they are listed.
Transports builtin_transports();

// The names of the transports offered in one place, e.g. offered_names(transports, &Offers::train).
std::vector<std::string> offered_names(const Transports& transports, bool Offers::*where);

}  // namespace trireme::comm
