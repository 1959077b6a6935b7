// Frames: short messages over a stream, each preceded by its length (4 bytes, little-endian).
// FrameReader: one caller at a time. send_frame() and authentic_text(): one caller per socket and direction.
// A reader for unauthenticated peers has a small limit; a longer frame is a FrameError, and its connection is closed.
// After the handshake, each frame is a code (see mac.h) followed by its text. All control messages of a job are such
// frames.
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

// Reassembles frames from pieces of a stream.
class FrameReader {
 public:
  explicit FrameReader(std::size_t most_bytes) : most_bytes_(most_bytes) {}

  void add(std::span<const std::byte> bytes);
  // The next complete frame, if there is one.
  std::optional<std::string> next();
  // A lower bound on the bytes that are missing until the next frame is complete; all of them belong to that frame.
  std::size_t missing() const;

 private:
  std::size_t most_bytes_;
  std::string buffer_;
};

// The text of a frame from a connection whose handshake is done. Nothing if the code is wrong: the frame was forged,
// altered or replayed on the network and must be ignored.
std::optional<std::string> authentic_text(const Socket& socket, std::string_view frame);

// What to tell the user then, once per connection.
std::string forgery_sentence(std::string_view sender);

// Sends one frame with its code. Errors are those of send_all().
void send_frame(const Socket& socket, std::string_view text, std::int64_t deadline_ns);

}  // namespace trireme::comm
