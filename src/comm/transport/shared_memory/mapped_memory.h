// MappedMemory: memory from the system, private or shared between processes.
// Immutable after construction; the contents are the user's to synchronise.
// It is zero at first, takes physical pages when touched, and begins on a huge-page boundary.
#pragma once

#include <cstddef>
#include <span>

namespace trireme::comm {

class MappedMemory {
 public:
  // Private memory (descriptor -1), or the memory of the descriptor. A failure is a run error.
  MappedMemory(std::size_t bytes, int descriptor);
  ~MappedMemory();
  MappedMemory(const MappedMemory&) = delete;
  MappedMemory& operator=(const MappedMemory&) = delete;

  std::byte* data() const { return data_; }
  std::size_t size() const { return bytes_; }

 private:
  std::byte* data_;
  std::size_t bytes_;
};

// Makes anonymous shared memory, whose descriptor can be sent to other processes.
int make_shared_memory(std::size_t bytes);

// The size rounded up to huge pages.
std::size_t whole_huge_pages(std::size_t bytes);

// Makes mapped memory resident now, in huge pages if the system has any left; the system does not give them to shared
// memory by itself. For data in constant use. REQUIRES: nobody else writes there meanwhile.
void take_huge_pages(std::span<std::byte> memory);

}  // namespace trireme::comm
