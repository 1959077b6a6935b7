// Memory from the system, also shared between processes; zero at first, and taken only where it is touched. It begins
// on a huge page.
#pragma once

#include <cstddef>
#include <span>

namespace trireme::comm {

class MappedMemory {
 public:
  // Of this process alone (descriptor -1), or what the descriptor stands for. Fails with a run error.
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

// A new piece of memory without a name, to be handed to other processes.
int make_shared_memory(std::size_t bytes);

// Parts begin on huge pages.
std::size_t whole_huge_pages(std::size_t bytes);

// Takes mapped memory now, for data that is used all the time, in huge pages where the system has some left: it gives
// shared memory none by itself. Nobody else may write there meanwhile.
void take_huge_pages(std::span<std::byte> memory);

}  // namespace trireme::comm
