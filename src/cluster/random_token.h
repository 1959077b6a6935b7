// A new secret: 32 random bytes of the system's, in hexadecimal.
#pragma once

#include <string>

namespace trireme::cluster {

std::string random_token();

}  // namespace trireme::cluster
