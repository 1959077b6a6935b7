// Link: bytes in order to and from one peer. Nothing here waits; a peer that is gone is told by a GoneError. One thread
// at a time.
#pragma once

#include <cstddef>
#include <span>
#include <stdexcept>
#include <string>

namespace trireme::comm {

// The connection ended; the caller knows whose it was and during what.
struct GoneError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

class Link {
 public:
  virtual ~Link() = default;

  // Takes as much as fits now; returns how much.
  virtual std::size_t send(std::span<const std::byte> bytes) = 0;
  // What has come, in one piece, at most about `wanted` bytes; take() lets go of its first bytes.
  virtual std::span<const std::byte> readable(std::size_t wanted) = 0;
  virtual void take(std::size_t count) = 0;
  // Straight into the caller's memory; returns how much.
  virtual std::size_t receive(std::span<std::byte> into) = 0;

  // A socket to poll; -1 when the peer wakes us instead.
  virtual int descriptor() const { return -1; }
  // Of those that ring: whether send() or receive() would get anywhere.
  virtual bool can_send() const { return false; }
  virtual bool can_receive() const { return false; }
};

}  // namespace trireme::comm
