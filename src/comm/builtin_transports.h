// The transports that the program comes with.
#pragma once

#include <string>
#include <vector>

#include "comm/transport/transport.h"

namespace trireme::comm {

// All that this program knows, in the order in which they are listed.
Transports builtin_transports();

// The names that are offered in one place, as in offered_names(transports, &Offers::train).
std::vector<std::string> offered_names(const Transports& transports, bool Offers::*where);

}  // namespace trireme::comm
