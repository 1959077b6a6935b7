// Memory allocators for a peer's process in place of the C library's: jemalloc and tcmalloc, if installed. Thread-safe.
#pragma once

#include <string>
#include <vector>

namespace trireme::peer {

struct Allocator {
  std::string name;  // jemalloc or tcmalloc; empty: the C library's
  std::string file;  // path of its shared library

  // Environment (NAME=VALUE) for the process: preloads the library, with the settings that PyTorch's tuning guide
  // recommends.
  std::vector<std::string> environment() const;
};

// The allocators found, one per name: from the folder lib beside the interpreter's bin (virtual or conda environment),
// else the system's.
std::vector<Allocator> installed_allocators(const std::string& python);

}  // namespace trireme::peer
