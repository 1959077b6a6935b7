#include "comm/window.h"

#include <algorithm>
#include <utility>

namespace trireme::comm {

Window::Window(std::uint32_t number, std::byte* base, std::size_t stride, std::size_t bytes, std::vector<int> ranks,
               int owner, std::shared_ptr<void> memory)
    : number_(number),
      base_(base),
      stride_(stride),
      bytes_(bytes),
      ranks_(std::move(ranks)),
      owner_(owner),
      memory_(std::move(memory)) {}

std::span<std::byte> Window::part(int rank) const {
  const auto found = std::find(ranks_.begin(), ranks_.end(), rank);
  if (found == ranks_.end()) return {};
  return {base_ + static_cast<std::size_t>(found - ranks_.begin()) * stride_, bytes_};
}

bool Window::contains(const void* data, std::size_t bytes) const {
  const auto* at = static_cast<const std::byte*>(data);
  const auto all = own();
  return at >= all.data() && at + bytes <= all.data() + all.size();
}

}  // namespace trireme::comm
