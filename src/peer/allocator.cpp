#include "peer/allocator.h"

#include <array>
#include <filesystem>

namespace trireme::peer {
namespace {

namespace fs = std::filesystem;

struct Library {
  const char* allocator;
  const char* file;
};
constexpr std::array kLibraries{Library{"jemalloc", "libjemalloc.so.2"}, Library{"tcmalloc", "libtcmalloc.so.4"},
                                Library{"tcmalloc", "libtcmalloc_minimal.so.4"}};

constexpr const char* kJemallocSettings =
    "MALLOC_CONF=oversize_threshold:1,background_thread:true,metadata_thp:auto,dirty_decay_ms:-1,muzzy_decay_ms:-1";

std::vector<fs::path> library_folders(const std::string& python) {
  std::vector<fs::path> folders;
  if (const fs::path bin = fs::path(python).parent_path(); !bin.empty())
    folders.push_back((bin / ".." / "lib").lexically_normal());
  for (const char* folder : {"/usr/local/lib", "/usr/lib/x86_64-linux-gnu", "/usr/lib64", "/usr/lib"})
    folders.emplace_back(folder);
  return folders;
}

}  // namespace

std::vector<std::string> Allocator::environment() const {
  if (name.empty()) return {};
  std::vector<std::string> all{"LD_PRELOAD=" + file};
  if (name == "jemalloc") all.emplace_back(kJemallocSettings);
  return all;
}

std::vector<Allocator> installed_allocators(const std::string& python) {
  std::vector<Allocator> found;
  std::error_code ignored;
  for (const Library& library : kLibraries) {
    if (!found.empty() && found.back().name == library.allocator) continue;
    for (const fs::path& folder : library_folders(python))
      if (const fs::path file = folder / library.file; fs::exists(file, ignored)) {
        found.push_back({library.allocator, file.string()});
        break;
      }
  }
  return found;
}

}  // namespace trireme::peer
