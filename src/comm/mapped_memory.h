// Memory from the system, also shared between processes; zero at first, and taken only where it is touched.
#pragma once

#include <cstddef>

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

}  // namespace trireme::comm
