#include "base/system/beside_program.h"

#include <filesystem>
#include <fstream>

namespace trireme::base {

namespace fs = std::filesystem;

std::string this_program() { return fs::read_symlink("/proc/self/exe").string(); }

std::string program_name() {
  std::error_code ignored;
  const fs::path program = fs::read_symlink("/proc/self/exe", ignored);
  return program.has_filename() ? program.filename().string() : "trireme";
}

std::vector<std::string> command_line() {
  std::ifstream file("/proc/self/cmdline", std::ios::binary);
  std::vector<std::string> words;
  for (std::string word; std::getline(file, word, '\0');) words.push_back(word);
  return words;
}

std::string find_beside_program(const std::string& name) {
  std::error_code ignored;
  const fs::path folder = fs::read_symlink("/proc/self/exe", ignored).parent_path(), above = folder.parent_path();
  for (const fs::path& path : {folder / name, above / name, above / TRIREME_LIBRARY_FOLDER / "trireme" / name})
    if (fs::exists(path, ignored)) return path.string();
  return "";
}

}  // namespace trireme::base
