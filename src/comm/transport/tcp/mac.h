// MacStream: message authentication codes for one direction of a connection: HMAC-SHA-256, cut to 16 bytes, under a key
// of that connection and direction, over the message's number and its bytes. A message that was altered, forged,
// repeated, moved or follows one that was removed does not verify. One thread at a time.
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
  // Whether the code is that of the next message. One that does not verify is not counted.
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
