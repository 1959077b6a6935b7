// The rules of the source tree that a program can check. Each check takes the text of one file and gives sentences,
// one per offence; no sentence means that the file keeps the rule. Pure functions, so the rules themselves are tested.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace trireme::structure {

struct SourceFile {
  std::string path;  // relative to the repository, with '/': "src/ops/relu.cpp"
  std::string text;
};

using Offences = std::vector<std::string>;
// Part -> the parts its arrow names.
using Arrows = std::map<std::string, std::set<std::string>>;

// The arrows of the design.
const Arrows& design_arrows();
// All parts a part may include: itself and everything its arrows reach.
std::set<std::string> reachable(const Arrows& arrows, const std::string& part);
// The arrows that CMakeLists.txt declares: trireme_part(NAME DEPENDS ... LINK ...).
Arrows cmake_arrows(std::string_view cmake_lists);

// The text without comments and with empty string literals; lines stay where they are.
std::string without_comments(std::string_view cpp);

// A file of src/PART includes only what its part may: quoted includes are "part/file.h" of a reachable part, `exists`
// says which of them there are.
Offences check_includes(const SourceFile& file, const Arrows& arrows, const std::set<std::string>& existing);
// oneDNN and OpenMP only in src/ops/core/onednn*; JSON, logging, options and TOML headers only in .cpp files.
Offences check_library_headers(const SourceFile& file);
// The environment is read in few places.
Offences check_environment(const SourceFile& file);
// No libm functions whose results depend on the CPU where training bits are made; references (in their file's name)
// compute in double and are free.
Offences check_libm(const SourceFile& file);
// No compiler flag that makes bits depend on the machine, in CMake files, presets and Makefile ('#' comments are free).
Offences check_build_flags(const SourceFile& file);
Offences check_length(const SourceFile& file);
// Rooms side by side that must not know each other: a convolution algorithm does not include another's files, a reader
// of one format not another's. What they share stands in the room above them.
Offences check_sibling_rooms(const SourceFile& file);
// No folder of src holds more than kLargestFolder files. `paths`: all files, as in SourceFile.
Offences check_folder_sizes(const std::set<std::string>& paths);

inline constexpr int kLongestFile = 700;        // lines, of any file
inline constexpr int kLongestSourceFile = 400;  // lines, of a file of src without a written reason
inline constexpr int kLargestFolder = 30;       // files

}  // namespace trireme::structure
