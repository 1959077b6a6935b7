// SharedWindow: memory of a rank that the ranks of its host reach too, so that they reduce it where it lies.
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
  // `base` holds the parts of all ranks of the host, `stride` bytes apart; `ranks` are theirs in the group, `owner`'s
  // part is this rank's. `memory` is what keeps it.
  SharedWindow(std::uint32_t number, std::byte* base, std::size_t stride, std::size_t bytes, std::vector<int> ranks,
               int owner, std::shared_ptr<void> memory);

  std::uint32_t number() const { return number_; }  // equal on all ranks
  std::span<std::byte> own() const { return part(owner_); }
  // The part of another rank, empty when it is on another host.
  std::span<std::byte> part(int rank) const;
  bool contains(const void* data, std::size_t bytes) const;
  // So many bytes of its own part will be used all the time; before others use it.
  void take(std::size_t first, std::size_t bytes) const;

 private:
  std::uint32_t number_;
  std::byte* base_;
  std::size_t stride_, bytes_;
  std::vector<int> ranks_;
  int owner_;
  std::shared_ptr<void> memory_;
};

// Where an array of a rank lies: at so many bytes of which window.
struct WindowAddress {
  std::uint32_t window = 0, unused = 0;
  std::uint64_t offset = 0;
};

// The windows of a group that are still in use. Any thread.
class WindowSet {
 public:
  void add(const std::shared_ptr<const SharedWindow>& window);
  // Nothing when the array lies elsewhere.
  std::optional<WindowAddress> find(std::span<const float> array) const;
  // The array of so many floats at a place that another rank named; nothing when there is no such place.
  std::span<float> at(int rank, const WindowAddress& place, std::size_t count) const;

 private:
  mutable std::mutex mutex_;
  std::vector<std::weak_ptr<const SharedWindow>> windows_;
};

// How ranks of one host get memory that all of them reach. Called by all ranks of a group in the same order with the
// same size.
class HostMemory {
 public:
  virtual ~HostMemory() = default;
  virtual std::shared_ptr<const SharedWindow> allocate(std::size_t bytes) = 0;
};

}  // namespace trireme::comm
