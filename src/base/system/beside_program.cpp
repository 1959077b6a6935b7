#include "base/system/beside_program.h"

#include <filesystem>
#include <fstream>
#include <string_view>

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

std::string in_own_words(std::string text) {
  constexpr std::string_view kOurs = "trireme ";
  const std::string own = program_name();
  if (own == "trireme") return text;
  for (std::size_t at = 0; (at = text.find(kOurs, at)) != std::string::npos; at += own.size()) {
    const char before = at > 0 ? text[at - 1] : ' ',
               after = at + kOurs.size() < text.size() ? text[at + kOurs.size()] : ' ';
    const bool is_word = before == ' ' || before == '(' || before == '\'' || before == '\n';
    const bool names_command = (after >= 'a' && after <= 'z') || after == '-';
    if (is_word && names_command) text.replace(at, kOurs.size() - 1, own);
  }
  return text;
}

std::string find_beside_program(const std::string& name) {
  std::error_code ignored;
  const fs::path folder = fs::read_symlink("/proc/self/exe", ignored).parent_path(), above = folder.parent_path();
  for (const fs::path& path : {folder / name, above / name, above / TRIREME_LIBRARY_FOLDER / "trireme" / name})
    if (fs::exists(path, ignored)) return path.string();
  return "";
}

}  // namespace trireme::base
