// Memory allocators that a peer can be started with instead of the C library's: jemalloc and tcmalloc, where installed.
#pragma once

#include <string>
#include <vector>

namespace trireme::peer {

struct Allocator {
  std::string name;  // jemalloc or tcmalloc; empty: the C library's
  std::string file;  // its shared library

  // NAME=VALUE for the process that is to use it: the library is preloaded, with the settings that PyTorch's tuning
  // guide gives for it.
  std::vector<std::string> environment() const;
};

// One of each name: of the folder lib beside the interpreter's bin (a virtual or conda environment), else the system's.
std::vector<Allocator> installed_allocators(const std::string& python);

}  // namespace trireme::peer
