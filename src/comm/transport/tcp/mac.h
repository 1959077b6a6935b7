// MacStream: message authentication codes for one direction of a connection.
// One caller at a time.
// A code is HMAC-SHA-256, truncated to 16 bytes, over the message's number and bytes, with a key for that connection
// and direction. A message that was altered, forged, replayed or reordered, or that follows a removed one, does not
// verify.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "base/hash.h"

namespace trireme::comm {

using MacCode = std::array<std::byte, 16>;

class MacStream {
 public:
  explicit MacStream(const base::Digest& key) : hmac_(key) {}

  // The code of the next message, which may be given in two parts.
  MacCode sign(std::span<const std::byte> message, std::span<const std::byte> rest = {});
  // Whether the code is that of the next message. A message that does not verify is not counted.
  [[nodiscard]] bool verify(std::span<const std::byte> code, std::span<const std::byte> message,
                            std::span<const std::byte> rest = {});

 private:
  MacCode code_of(std::span<const std::byte> message, std::span<const std::byte> rest);

  base::Hmac hmac_;
  std::uint64_t number_ = 0;
};

// The keys of one side of a connection.
struct MacKeys {
  base::Digest sends, receives;
};

// Both directions, as one side sees them.
struct Macs {
  explicit Macs(const MacKeys& keys) : sends(keys.sends), receives(keys.receives) {}
  MacStream sends, receives;
};

}  // namespace trireme::comm
