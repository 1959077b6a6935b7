// SocketLink: a link over a connected stream socket (TCP between hosts), which it owns.
#pragma once

#include <vector>

#include "comm/link.h"

namespace trireme::comm {

class SocketLink : public Link {
 public:
  explicit SocketLink(int socket);  // made non-blocking, and without delay where it is TCP
  ~SocketLink() override;
  SocketLink(const SocketLink&) = delete;
  SocketLink& operator=(const SocketLink&) = delete;

  std::size_t send(std::span<const std::byte> bytes) override;
  std::span<const std::byte> readable(std::size_t wanted) override;
  void take(std::size_t count) override { begin_ += count; }
  std::size_t receive(std::span<std::byte> into) override;
  int descriptor() const override { return socket_; }

 private:
  std::size_t receive_now(std::span<std::byte> into) const;

  int socket_;
  std::vector<std::byte> buffer_;  // [begin_, end_) has come and was not taken
  std::size_t begin_ = 0, end_ = 0;
};

}  // namespace trireme::comm
