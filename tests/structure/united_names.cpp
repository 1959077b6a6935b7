#include "structure/united_names.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <regex>

namespace trireme::structure {
namespace {

// Kept apart by cmake/unity.cmake.
bool is_alone(const std::string& path) {
  for (const char* ending : {"_avx512.cpp", "_avx2.cpp", "_generic.cpp", "counted_new.cpp"})
    if (path.ends_with(ending)) return true;
  return !path.ends_with(".cpp");
}

}  // namespace

std::vector<std::string> anonymous_functions(const SourceFile& file) {
  static const std::regex function(
      R"(^(?!using |return |namespace |template)[A-Za-z][\w:<>,&*\[\]\s.]*?[\s&*]([a-z_]\w*)\()");
  std::vector<std::string> names;
  bool is_inside = false;
  each_line(without_comments(file.text), [&](int, const std::string& line) {
    if (line.starts_with("namespace {")) is_inside = true;
    if (line.starts_with("}  ")) is_inside = false;  // "}  // namespace", whose comment is gone
    std::smatch found;
    if (!is_inside || !std::regex_search(line, found, function)) return;
    if (std::ranges::find(names, found[1].str()) == names.end()) names.push_back(found[1]);
  });
  return names;
}

Offences check_united_names(const std::vector<SourceFile>& files, const std::set<std::string>& together) {
  std::map<std::pair<std::string, std::string>, std::string> first;  // (folder, name) -> file
  Offences offences;
  for (const SourceFile& file : files) {
    if (is_alone(file.path)) continue;
    const std::string part = part_of(file.path);
    const std::string folder = together.contains(part) ? part : file.path.substr(0, file.path.rfind('/'));
    for (const std::string& name : anonymous_functions(file)) {
      const auto [place, is_new] = first.try_emplace({folder, name}, file.path);
      if (!is_new)
        offences.push_back(fmt::format("{} and {} both define {}() in anonymous namespaces, and are compiled as one",
                                       place->second, file.path, name));
    }
  }
  return offences;
}

std::set<std::string> parts_together(const std::string& cmake) {
  static const std::regex declaration(R"(trireme_part\((\w+)[^)]*\bTOGETHER\b)");
  std::set<std::string> parts;
  for (auto each = std::sregex_iterator(cmake.begin(), cmake.end(), declaration); each != std::sregex_iterator();
       ++each)
    parts.insert((*each)[1]);
  return parts;
}

}  // namespace trireme::structure
