// Frames: short messages over a stream, each with its length before it (4 bytes, the lowest first). What comes from a
// stranger is read with a small limit; a frame beyond it is a FrameError, and its connection is closed. After the
// handshake each frame holds a code (see mac.h) and then its text; all that steers a job comes so.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>

#include "comm/transport/tcp/socket.h"

namespace trireme::comm {

struct FrameError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

std::string make_frame(std::string_view text);

// Puts frames together from whatever pieces come.
class FrameReader {
 public:
  explicit FrameReader(std::size_t most_bytes) : most_bytes_(most_bytes) {}

  void add(std::span<const std::byte> bytes);
  // The next whole one.
  std::optional<std::string> next();
  // Bytes that are certainly still to come before the next is whole; never more than belong to it.
  std::size_t missing() const;

 private:
  std::size_t most_bytes_;
  std::string buffer_;
};

// The text of a frame that came from a connection whose handshake is done; nothing when its code is wrong: it was
// forged, altered or repeated on the way, and has no effect.
std::optional<std::string> authentic_text(const Socket& socket, std::string_view frame);

// What to tell the user of it, once for each connection.
std::string forgery_sentence(std::string_view sender);

// One frame with its code. Errors as those of send_all().
void send_frame(const Socket& socket, std::string_view text, std::int64_t deadline_ns);

}  // namespace trireme::comm
