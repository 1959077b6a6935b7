// Buffer: a block of memory aligned to 64 bytes. Owns it or views memory of the caller; can be moved, not copied.
// Const members are safe from any thread.
// Owned memory is zeroed unless Content::any is given. Large blocks ask the system for 2 MB pages.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

namespace trireme::tensor {

inline constexpr std::size_t kAlignment = 64;
constexpr std::size_t align_up(std::size_t bytes, std::size_t alignment = kAlignment) {
  return (bytes + alignment - 1) / alignment * alignment;
}

class Buffer {
 public:
  Buffer() = default;
  enum class Content { zero, any };
  explicit Buffer(std::size_t bytes, Content content = Content::zero);  // owns
  Buffer(void* memory, std::size_t bytes);                              // views memory the caller keeps alive
  ~Buffer();
  Buffer(Buffer&& other) noexcept { *this = std::move(other); }
  Buffer& operator=(Buffer&& other) noexcept;
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;

  std::byte* data() const { return data_; }
  std::size_t bytes() const { return bytes_; }
  float* floats() const { return reinterpret_cast<float*>(data_); }
  std::span<float> span() const { return {floats(), bytes_ / sizeof(float)}; }

 private:
  std::byte* data_ = nullptr;
  std::size_t bytes_ = 0;
  bool owned_ = false;
};

}  // namespace trireme::tensor
