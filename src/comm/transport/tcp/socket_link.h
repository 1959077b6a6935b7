// SocketLink: a link over a connected stream socket (TCP between hosts), which it owns. One caller at a time.
#pragma once

#include <vector>

#include "comm/transport/link/link.h"
#include "comm/transport/tcp/socket.h"

namespace trireme::comm {

class SocketLink : public Link {
 public:
  explicit SocketLink(Socket socket);

  std::size_t send(std::span<const std::byte> bytes) override { return send_some(socket_, bytes); }
  std::span<const std::byte> readable(std::size_t wanted) override;
  void take(std::size_t count) override { begin_ += count; }
  std::size_t receive(std::span<std::byte> into) override;
  int descriptor() const override { return socket_.descriptor(); }

 private:
  Socket socket_;
  std::vector<std::byte> buffer_;  // [begin_, end_) is received and not taken
  std::size_t begin_ = 0, end_ = 0;
};

}  // namespace trireme::comm
