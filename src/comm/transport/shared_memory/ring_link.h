// RingLink: a link over two rings in memory that both ranks can access. One caller at a time.
#pragma once

#include "comm/transport/link/link.h"
#include "comm/transport/shared_memory/ring.h"
#include "comm/transport/shared_memory/wakeup.h"

namespace trireme::comm {

class RingLink : public Link {
 public:
  // `wakeup` belongs to the peer.
  RingLink(Ring out, Ring in, Wakeup wakeup) : out_(out), in_(in), wakeup_(wakeup) {}

  std::size_t send(std::span<const std::byte> bytes) override;
  std::span<const std::byte> readable(std::size_t) override { return in_.readable(); }
  void take(std::size_t count) override;
  std::size_t receive(std::span<std::byte> into) override;
  bool can_send() const override { return out_.has_room(); }
  bool can_receive() const override { return in_.has_bytes(); }

 private:
  Ring out_, in_;
  Wakeup wakeup_;
};

}  // namespace trireme::comm
