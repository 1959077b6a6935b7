// AuthenticatedLink: a link over a TCP connection without TLS. What is sent in one call becomes a record: its length (4
// bytes, in this machine's order) and its code (see mac.h), then the bytes. The code covers the length and, of a short
// record, all bytes; of a longer one, the first kAuthenticHead bytes, which hold the header of a message. So what
// steers a job is authenticated, and weights and gradients cost nothing more. A wrong code ends the connection with a
// GoneError.
//
// Who sent a part of what it offered offers the rest next, as with TLS. One thread at a time.
#pragma once

#include <cstdint>
#include <vector>

#include "comm/transport/link/link.h"
#include "comm/transport/tcp/socket.h"

namespace trireme::comm {

inline constexpr std::size_t kAuthenticHead = 64;

class AuthenticatedLink : public Link {
 public:
  // The socket's handshake is done. Records up to `control_bytes` are authenticated as a whole.
  AuthenticatedLink(Socket socket, std::size_t control_bytes);

  std::size_t send(std::span<const std::byte> bytes) override;
  std::span<const std::byte> readable(std::size_t wanted) override;
  void take(std::size_t count) override;
  std::size_t receive(std::span<std::byte> into) override;
  int descriptor() const override { return socket_.descriptor(); }

 private:
  struct Prefix {
    std::uint32_t bytes = 0;
    MacCode code{};
  };

  std::size_t covered(std::size_t bytes) const;
  // Whether bytes of a record can be given out; begins the next one when it has come as far as its code covers.
  bool is_in_record();
  // Reads what is there until the buffer holds so many bytes.
  void fill(std::size_t bytes);
  std::size_t buffered() const { return end_ - begin_; }

  Socket socket_;
  std::size_t control_bytes_;
  // The record that is being sent.
  Prefix out_;
  std::size_t prefix_sent_ = 0, out_left_ = 0;
  // What came: [begin_, end_) of the buffer, and how many bytes of the record are still to be given out.
  std::vector<std::byte> buffer_;
  std::size_t begin_ = 0, end_ = 0, in_left_ = 0;
};

}  // namespace trireme::comm
