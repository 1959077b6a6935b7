// SharedWindow: memory of a rank that the other ranks of its host can read and write, so that they reduce it in place.
// Immutable after construction; the contents are synchronised by collectives.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

namespace trireme::comm {

class SharedWindow {
 public:
  // `base` holds the parts of all ranks of the host, `stride` bytes apart; `ranks` are their ranks in the group, and
  // `owner` is this rank. `memory` keeps the memory alive.
  SharedWindow(std::uint32_t number, std::byte* base, std::size_t stride, std::size_t bytes, std::vector<int> ranks,
               int owner, std::shared_ptr<void> memory);

  std::uint32_t number() const { return number_; }  // equal on all ranks
  std::span<std::byte> own() const { return part(owner_); }
  // The part of another rank; empty if that is on another host.
  std::span<std::byte> part(int rank) const;
  bool contains(const void* data, std::size_t bytes) const;
  // Announces that these bytes of its own part will be in constant use. REQUIRES: no other rank uses them yet.
  void take(std::size_t first, std::size_t bytes) const;

 private:
  std::uint32_t number_;
  std::byte* base_;
  std::size_t stride_, bytes_;
  std::vector<int> ranks_;
  int owner_;
  std::shared_ptr<void> memory_;
};

// The address of a rank's array: window number and byte offset.
struct WindowAddress {
  std::uint32_t window = 0, unused = 0;
  std::uint64_t offset = 0;
};

// The windows of a group that are still in use. Thread-safe.
class WindowSet {
 public:
  void add(const std::shared_ptr<const SharedWindow>& window);
  // Nothing if the array lies in no window.
  std::optional<WindowAddress> find(std::span<const float> array) const;
  // The array of `count` floats at an address that another rank sent; empty if there is no such memory.
  std::span<float> at(int rank, const WindowAddress& place, std::size_t count) const;

 private:
  mutable std::mutex mutex_;
  std::vector<std::weak_ptr<const SharedWindow>> windows_;
};

// Allocates memory that all ranks of a host can access. All ranks of a group call it in the same order with the same
// size.
class HostMemory {
 public:
  virtual ~HostMemory() = default;
  virtual std::shared_ptr<const SharedWindow> allocate(std::size_t bytes) = 0;
};

}  // namespace trireme::comm
