// AuthenticatedLink: a link over a TCP connection without TLS that authenticates control messages.
// One caller at a time.
//
// The bytes of one send() become a record: length (4 bytes, native byte order), code (see mac.h), content. The code
// covers the length and, of a short record, the whole content; of a longer one, the first kAuthenticHead bytes, which
// hold the message header. So everything that controls a job is authenticated, and weights and gradients cost nothing
// extra. A wrong code ends the connection with a GoneError.
//
// After a partial send() the caller must offer the rest of the same bytes next, as with TLS.
#pragma once

#include <cstdint>
#include <vector>

#include "comm/transport/link/link.h"
#include "comm/transport/tcp/socket.h"

namespace trireme::comm {

inline constexpr std::size_t kAuthenticHead = 64;

class AuthenticatedLink : public Link {
 public:
  // REQUIRES: the socket's handshake is done. Records up to `control_bytes` are authenticated as a whole.
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

  std::size_t covered(std::size_t bytes) const;  // how many bytes of a record's content its code covers
  // Whether there are authenticated bytes of a record to return. Begins the next record once all bytes that its code
  // covers have arrived.
  bool is_in_record();
  // Reads what has arrived, until the buffer holds `bytes` bytes.
  void fill(std::size_t bytes);
  std::size_t buffered() const { return end_ - begin_; }

  Socket socket_;
  std::size_t control_bytes_;
  // The record being sent.
  Prefix out_;
  std::size_t prefix_sent_ = 0, out_left_ = 0;
  // Received bytes: [begin_, end_) of the buffer; in_left_ bytes of the current record are still to be returned.
  std::vector<std::byte> buffer_;
  std::size_t begin_ = 0, end_ = 0, in_left_ = 0;
};

}  // namespace trireme::comm
