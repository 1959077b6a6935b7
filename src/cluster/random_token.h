// random_token(): a new secret of 32 random bytes from the operating system, as 64 hexadecimal digits.
// Thread-safe.
#pragma once

#include <string>

namespace trireme::cluster {

std::string random_token();

}  // namespace trireme::cluster
