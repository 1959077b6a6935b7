// Link: an ordered stream of bytes to and from one peer.
// One caller at a time.
// No function blocks. A GoneError reports that the peer is gone.
#pragma once

#include <cstddef>
#include <span>
#include <stdexcept>
#include <string>

namespace trireme::comm {

// The connection ended. The caller knows the peer and the operation.
struct GoneError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

class Link {
 public:
  virtual ~Link() = default;

  // Sends as much as fits now; returns how many bytes.
  virtual std::size_t send(std::span<const std::byte> bytes) = 0;
  // Received bytes that lie in one piece; `wanted` is a hint how much to read. take() consumes the first `count` of
  // them.
  virtual std::span<const std::byte> readable(std::size_t wanted) = 0;
  virtual void take(std::size_t count) = 0;
  // Receives straight into the caller's memory; returns how many bytes.
  virtual std::size_t receive(std::span<std::byte> into) = 0;

  // The socket to poll; -1 if the peer wakes this rank through a Wakeup instead.
  virtual int descriptor() const { return -1; }
  // For links with a Wakeup: whether send() or receive() would make progress.
  virtual bool can_send() const { return false; }
  virtual bool can_receive() const { return false; }
};

}  // namespace trireme::comm
