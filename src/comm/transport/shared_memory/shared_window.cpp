#include "comm/transport/shared_memory/shared_window.h"

#include <algorithm>
#include <utility>

#include "comm/transport/shared_memory/mapped_memory.h"

namespace trireme::comm {

SharedWindow::SharedWindow(std::uint32_t number, std::byte* base, std::size_t stride, std::size_t bytes,
                           std::vector<int> ranks, int owner, std::shared_ptr<void> memory)
    : number_(number),
      base_(base),
      stride_(stride),
      bytes_(bytes),
      ranks_(std::move(ranks)),
      owner_(owner),
      memory_(std::move(memory)) {}

std::span<std::byte> SharedWindow::part(int rank) const {
  const auto found = std::find(ranks_.begin(), ranks_.end(), rank);
  if (found == ranks_.end()) return {};
  return {base_ + static_cast<std::size_t>(found - ranks_.begin()) * stride_, bytes_};
}

void SharedWindow::take(std::size_t first, std::size_t bytes) const { take_huge_pages(own().subspan(first, bytes)); }

void WindowSet::add(const std::shared_ptr<const SharedWindow>& window) {
  const std::lock_guard lock(mutex_);
  std::erase_if(windows_, [](const auto& one) { return one.expired(); });
  windows_.push_back(window);
}

std::optional<WindowAddress> WindowSet::find(std::span<const float> array) const {
  const auto* begin = reinterpret_cast<const std::byte*>(array.data());
  const std::lock_guard lock(mutex_);
  for (const auto& one : windows_)
    if (const auto window = one.lock(); window && window->contains(begin, array.size_bytes()))
      return WindowAddress{window->number(), 0, static_cast<std::uint64_t>(begin - window->own().data())};
  return std::nullopt;
}

std::span<float> WindowSet::at(int rank, const WindowAddress& place, std::size_t count) const {
  const std::lock_guard lock(mutex_);
  for (const auto& one : windows_) {
    const auto window = one.lock();
    if (!window || window->number() != place.window) continue;
    const auto part = window->part(rank);
    if (place.offset % sizeof(float) != 0 || place.offset > part.size() ||
        count > (part.size() - place.offset) / sizeof(float))
      return {};
    return {reinterpret_cast<float*>(part.data() + place.offset), count};
  }
  return {};
}

bool SharedWindow::contains(const void* data, std::size_t bytes) const {
  const auto* at = static_cast<const std::byte*>(data);
  const auto all = own();
  return at >= all.data() && at + bytes <= all.data() + all.size();
}

}  // namespace trireme::comm
