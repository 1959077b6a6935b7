#include "comm/group/group.h"

#include <algorithm>

#include "comm/transport/shared_memory/mapped_memory.h"

namespace trireme::comm {

std::shared_ptr<const SharedWindow> Group::allocate(std::size_t bytes) {
  if (memory_) {
    auto window = memory_->allocate(bytes);
    windows_->add(window);
    return window;
  }
  const auto memory = std::make_shared<MappedMemory>(bytes, -1);  // private to this rank
  return std::make_shared<SharedWindow>(0, memory->data(), bytes, bytes, std::vector{rank()}, rank(), memory);
}

void Group::set_deadline(double seconds) {
  Collectives::set_deadline(seconds);
  start([seconds](Collectives& collectives) { collectives.set_deadline(seconds); }).wait();
  mailbox_->set_deadline(seconds);
}

void Group::among(const std::vector<int>& ranks, std::uint32_t sequence) {
  Collectives::among(ranks, sequence);
  among_in_background(ranks, sequence);
}

void Group::among_in_background(const std::vector<int>& ranks, std::uint32_t sequence) {
  start([ranks, sequence](Collectives& collectives) { collectives.among(ranks, sequence); });
}

std::uint32_t Group::sequence() {
  std::uint32_t in_background = 0;
  start([&](Collectives& collectives) { in_background = collectives.sequence(); }).wait();
  return std::max(Collectives::sequence(), in_background);
}

}  // namespace trireme::comm
