#include "comm/transport/shared_memory/ring_link.h"

#include <algorithm>
#include <cstring>

namespace trireme::comm {

std::size_t RingLink::send(std::span<const std::byte> bytes) {
  const std::size_t count = out_.write(bytes);
  if (count > 0) wakeup_.notify();
  return count;
}

void RingLink::take(std::size_t count) {
  in_.take(count);
  wakeup_.notify();
}

std::size_t RingLink::receive(std::span<std::byte> into) {
  std::size_t done = 0;
  while (done < into.size()) {
    const auto part = in_.readable();
    const std::size_t count = std::min(part.size(), into.size() - done);
    if (count == 0) break;
    std::memcpy(into.data() + done, part.data(), count);
    take(count);
    done += count;
  }
  return done;
}

}  // namespace trireme::comm
