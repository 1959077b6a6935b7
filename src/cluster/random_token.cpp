#include "cluster/random_token.h"

#include <fmt/format.h>
#include <sys/random.h>

#include <array>

#include "base/error.h"

namespace trireme::cluster {

std::string random_token() {
  std::array<unsigned char, 32> bytes{};
  if (::getrandom(bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size()))
    base::run_error("cannot get 32 random bytes for a secret from the system");
  std::string token;
  for (const unsigned char byte : bytes) token += fmt::format("{:02x}", byte);
  return token;
}

}  // namespace trireme::cluster
