#include "structure/parts.h"

#include <fmt/core.h>

#include <regex>

namespace trireme::structure {

const Arrows& design_arrows() {
  static const Arrows arrows = [] {
    Arrows a = {
        {"base", {}},
        {"observe", {"base"}},
        {"tensor", {"base"}},
        {"ops", {"tensor", "observe"}},
        {"graph", {"ops"}},
        {"crew", {"graph"}},
        {"models", {"graph"}},
        {"optim", {"tensor"}},
        {"store", {"tensor"}},
        {"data", {"tensor", "observe"}},
        {"comm", {"base", "observe"}},
        {"strategy", {"crew", "optim", "comm", "store"}},
        {"cluster", {"comm"}},
        {"peer", {"base"}},
        {"compare", {"train", "peer"}},
        {"plan", {"train"}},
        {"watch", {"train"}},
    };
    a["train"] = {"crew", "models", "optim", "store", "data", "strategy", "cluster"};
    a["bench"] = {"compare", "plan", "watch"};
    a["cli"] = {"bench"};
    a["main"] = {"cli"};
    return a;
  }();
  return arrows;
}

std::set<std::string> reachable(const Arrows& arrows, const std::string& part) {
  std::set<std::string> seen;
  std::vector<std::string> next = {part};
  while (!next.empty()) {
    const std::string current = next.back();
    next.pop_back();
    if (!seen.insert(current).second) continue;
    if (const auto entry = arrows.find(current); entry != arrows.end())
      next.insert(next.end(), entry->second.begin(), entry->second.end());
  }
  return seen;
}

Arrows cmake_arrows(std::string_view cmake_lists) {
  std::string code;
  each_line(cmake_lists, [&](int, const std::string& line) { code += line.substr(0, line.find('#')) + "\n"; });
  static const std::regex pattern(
      R"(trireme_part\(\s*(\w+)\s+(?:CONTROL\s+)?(?:TOGETHER\s+)?DEPENDS\b([\w\s]*?)(?:\bLINK\b|\)))");
  static const std::regex word(R"(\w+)");
  Arrows arrows;
  for (std::sregex_iterator part(code.begin(), code.end(), pattern), end; part != end; ++part) {
    const std::string depends = part->str(2);
    auto& targets = arrows[part->str(1)];
    for (std::sregex_iterator i(depends.begin(), depends.end(), word); i != end; ++i) targets.insert(i->str());
  }
  return arrows;
}

Arrows included_parts(const std::vector<SourceFile>& files) {
  Arrows included;
  for (const SourceFile& file : files) {
    const std::string part = part_of(file.path);
    auto& targets = included[part];
    for (const Include& include : includes_of(file)) {
      const std::string target = include.path.substr(0, include.path.find('/'));
      if (include.quoted && target != part) targets.insert(target);
    }
  }
  return included;
}

Offences check_includes(const SourceFile& file, const Arrows& arrows, const std::set<std::string>& existing) {
  const std::string part = part_of(file.path);
  if (!arrows.contains(part))
    return {fmt::format("{}: the design has no part '{}'; add it with its arrow to the design and to this test",
                        file.path, part)};
  const std::set<std::string> allowed = reachable(arrows, part);
  Offences offences;
  for (const Include& include : includes_of(file)) {
    const std::string target = include.path.substr(0, include.path.find('/'));
    // <ops/relu.h> would pass the compiler too.
    if (!include.quoted && !existing.contains("src/" + include.path)) continue;
    const auto offence = [&](const std::string& why) {
      offences.push_back(fmt::format("{}:{}: includes {}: {}", file.path, include.line, include.path, why));
    };
    if (target == include.path || target.starts_with("."))
      offence("write it as \"part/file.h\"");
    else if (!arrows.contains(target))
      offence(fmt::format("'{}' is no part; library headers stand in <>", target));
    else if (!allowed.contains(target))
      offence(fmt::format("{} may not use {}", part, target));
    else if (!existing.contains("src/" + include.path))
      offence("there is no such file");
    else if (!include.quoted)
      offence("our own headers stand in quotes");
  }
  return offences;
}

Offences check_links(const Arrows& linked, const Arrows& included) {
  Offences offences;
  for (const auto& [part, targets] : linked) {
    const auto entry = included.find(part);
    const std::set<std::string> needed = entry == included.end() ? std::set<std::string>{} : entry->second;
    for (const std::string& target : targets)
      if (!needed.contains(target))
        offences.push_back(
            fmt::format("CMakeLists.txt: {} is linked with {}, of which it includes nothing", part, target));
    for (const std::string& target : needed)
      if (!targets.contains(target))
        offences.push_back(fmt::format("CMakeLists.txt: {} includes {} and is not linked with it", part, target));
  }
  return offences;
}

}  // namespace trireme::structure
