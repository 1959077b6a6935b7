#include "structure/public_headers.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>

namespace trireme::structure {
namespace {

constexpr std::string_view kPublic = "include/trireme/", kInternal = "src/";

bool is_public(const SourceFile& file) { return file.path.starts_with(kPublic); }

}  // namespace

std::set<std::string> headers_behind_public_ones(const std::vector<SourceFile>& files) {
  std::map<std::string, const SourceFile*> by_path;
  std::vector<const SourceFile*> next;
  for (const SourceFile& file : files) {
    by_path[file.path] = &file;
    if (is_public(file)) next.push_back(&file);
  }
  std::set<std::string> found;
  while (!next.empty()) {
    const SourceFile& file = *next.back();
    next.pop_back();
    for (const Include& include : includes_of(file)) {
      const auto header = by_path.find(std::string(kInternal) + include.path);
      if (header != by_path.end() && found.insert(include.path).second) next.push_back(header->second);
    }
  }
  return found;
}

Offences check_public_headers(const std::vector<SourceFile>& files, const std::string& list) {
  std::set<std::string> listed;
  each_line(list, [&](int, const std::string& line) { listed.insert(line); });
  const std::set<std::string> needed = headers_behind_public_ones(files);
  Offences offences;
  for (const std::string& header : needed)
    if (!listed.contains(header))
      offences.push_back(fmt::format(
          "cmake/public_headers.txt: {} is missing: a public header includes it; is there a way without?", header));
  for (const std::string& header : listed)
    if (!needed.contains(header))
      offences.push_back(fmt::format("cmake/public_headers.txt: {} is not needed by any public header", header));
  if (listed.size() > kMostInternalHeaders)
    offences.push_back(fmt::format("cmake/public_headers.txt: {} headers, at most {} are allowed", listed.size(),
                                   kMostInternalHeaders));
  return offences;
}

Offences check_public_use(const SourceFile& file) {
  Offences offences;
  if (is_public(file)) {
    bool in_head = true, has_example = false;
    each_line(file.text, [&](int, const std::string& line) {
      in_head = in_head && line.starts_with("//");
      has_example = has_example || (in_head && line.starts_with("//   "));
    });
    if (!has_example) offences.push_back(file.path + ": its first comment has no example");
    return offences;
  }
  if (file.path == "src/main.cpp" || file.path == "src/cli/program.cpp") return {};
  for (const Include& include : includes_of(file))
    if (include.path.starts_with("trireme/"))
      offences.push_back(fmt::format("{}:{}: includes {}: public headers are for programs; include what is behind it",
                                     file.path, include.line, include.path));
  return offences;
}

}  // namespace trireme::structure
