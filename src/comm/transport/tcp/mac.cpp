#include "comm/transport/tcp/mac.h"

#include <algorithm>

namespace trireme::comm {

MacCode MacStream::code_of(std::span<const std::byte> message, std::span<const std::byte> rest) {
  const base::Digest digest = hmac_.of({std::as_bytes(std::span(&number_, 1)), message, rest});
  MacCode code;
  std::copy_n(digest.begin(), code.size(), code.begin());
  return code;
}

MacCode MacStream::sign(std::span<const std::byte> message, std::span<const std::byte> rest) {
  const MacCode code = code_of(message, rest);
  ++number_;
  return code;
}

bool MacStream::verify(std::span<const std::byte> code, std::span<const std::byte> message,
                       std::span<const std::byte> rest) {
  if (!base::equal_secrets(code, code_of(message, rest))) return false;
  ++number_;
  return true;
}

}  // namespace trireme::comm
