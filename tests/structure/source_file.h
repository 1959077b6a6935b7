// SourceFile: the text of a file, and what the rules read in it. The rules are in parts.h (parts and their libraries),
// rooms.h (folders), rules.h (single files), public_headers.h and type_names.h.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace trireme::structure {

struct SourceFile {
  std::string path;  // relative to the repository, with '/': "src/ops/relu.cpp"
  std::string text;
};

using Offences = std::vector<std::string>;
// Calls visit(line number from 1, line) for each line.
void each_line(std::string_view text, const std::function<void(int number, const std::string& line)>& visit);

// An #include line.
struct Include {
  int line;
  bool quoted;
  std::string path;
};

std::vector<Include> includes_of(const SourceFile& file);

// The text without comments and with empty string literals; lines stay where they are.
std::string without_comments(std::string_view cpp);

// "src/ops/relu.cpp" -> "ops"; "src/main.cpp" -> "main".
std::string part_of(const std::string& path);

}  // namespace trireme::structure
