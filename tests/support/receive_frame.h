// One frame with its code, waited for: what the engine reads piece by piece.
#pragma once

#include <string>
#include <vector>

#include "comm/transport/tcp/frame.h"

namespace trireme::support {

// Errors as those of receive_all() and FrameReader; a wrong code is a FrameError.
inline std::string receive_frame(const comm::Socket& socket, std::size_t most_bytes, std::int64_t deadline_ns) {
  comm::FrameReader reader(most_bytes);
  for (;;) {
    if (const auto frame = reader.next()) {
      if (auto text = comm::authentic_text(socket, *frame)) return *std::move(text);
      throw comm::FrameError("a frame with a wrong code");
    }
    std::vector<std::byte> bytes(reader.missing());
    comm::receive_all(socket, bytes, deadline_ns);
    reader.add(bytes);
  }
}

}  // namespace trireme::support
