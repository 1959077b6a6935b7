// Counts what operator new is asked for outside oneDNN while counting is on, on all threads. The operators are replaced
// for the whole program: include this in exactly one file of a test program.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <new>

#include "ops/core/onednn.h"
#include "support/core_allocations.h"

namespace trireme::support {

namespace {
std::atomic<bool> counting{false};
std::atomic<std::int64_t> counted{0};

void* try_to_allocate(std::size_t bytes, std::size_t alignment) {
  if (counting.load(std::memory_order_relaxed) && !ops::onednn::inside_library()) counted.fetch_add(1);
  return alignment <= alignof(std::max_align_t)
             ? std::malloc(bytes == 0 ? 1 : bytes)
             : std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
}
void* allocate(std::size_t bytes, std::size_t alignment) {
  void* memory = try_to_allocate(bytes, alignment);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}
}  // namespace

void start_counting_allocations() {
  counted = 0;
  counting = true;
}

std::int64_t stop_counting_allocations() {
  counting = false;
  return counted;
}

}  // namespace trireme::support

void* operator new(std::size_t bytes) { return trireme::support::allocate(bytes, 1); }
void* operator new[](std::size_t bytes) { return trireme::support::allocate(bytes, 1); }
void* operator new(std::size_t bytes, std::align_val_t alignment) {
  return trireme::support::allocate(bytes, static_cast<std::size_t>(alignment));
}
void* operator new[](std::size_t bytes, std::align_val_t alignment) {
  return trireme::support::allocate(bytes, static_cast<std::size_t>(alignment));
}
void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept {
  return trireme::support::try_to_allocate(bytes, 1);
}
void* operator new[](std::size_t bytes, const std::nothrow_t&) noexcept {
  return trireme::support::try_to_allocate(bytes, 1);
}
void operator delete(void* memory, const std::nothrow_t&) noexcept { std::free(memory); }
void operator delete[](void* memory, const std::nothrow_t&) noexcept { std::free(memory); }
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::size_t, std::align_val_t) noexcept { std::free(memory); }
