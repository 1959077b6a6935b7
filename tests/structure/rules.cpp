#include "structure/rules.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <regex>

namespace trireme::structure {
namespace {

// Calls visit(line number from 1, line) for each line.
template <class Visit>
void each_line(std::string_view text, const Visit& visit) {
  int number = 1;
  for (std::size_t begin = 0; begin < text.size(); ++number) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    visit(number, std::string(text.substr(begin, end - begin)));
    begin = end + 1;
  }
}

// "src/ops/relu.cpp" -> "ops"; "src/main.cpp" -> "main".
std::string part_of(const std::string& path) {
  const std::string inside = path.substr(std::string_view("src/").size());
  return inside.substr(0, inside.find_first_of("/."));
}

std::string name_of(const std::string& path) { return path.substr(path.rfind('/') + 1); }
bool is_header(const std::string& path) { return path.ends_with(".h"); }

struct Include {
  int line;
  bool quoted;
  std::string path;
};

std::vector<Include> includes_of(const SourceFile& file) {
  static const std::regex pattern(R"(^\s*#\s*include\s*(["<])([^">]+)[">].*)");
  std::vector<Include> found;
  each_line(file.text, [&](int number, const std::string& line) {
    std::smatch match;
    if (std::regex_match(line, match, pattern)) found.push_back({number, match[1] == "\"", match[2]});
  });
  return found;
}

// One offence per line of code that matches.
Offences matching_lines(const SourceFile& file, const std::string& code, const std::regex& pattern,
                        std::string_view why) {
  Offences offences;
  each_line(code, [&](int number, const std::string& line) {
    std::smatch match;
    if (std::regex_search(line, match, pattern))
      offences.push_back(fmt::format("{}:{}: '{}': {}", file.path, number, match.str(), why));
  });
  return offences;
}

// Where the environment may be read: one file for finding data, one for the command line, one for what launchers tell.
constexpr std::array kEnvironmentReaders = {"src/data/find_data.cpp", "src/bench/environment.cpp",
                                            "src/cluster/environment.cpp"};

// Files of src that may be longer than kLongestSourceFile, and why.
const std::map<std::string, std::string> kLongFiles = {
    {"src/crew/crew.cpp", "the set-up of a crew: its parts are built from each other in one order"},
    {"src/train/run/job.cpp", "the life of a process from joining to leaving, told in the order in which it happens"},
};

// Below each folder, the rooms that do not include each other.
const std::map<std::string, std::set<std::string>> kSiblings = {
    {"bench/", {"collective", "input", "step", "train"}},
    {"data/readers/", {"images", "numpy", "table"}},
    {"ops/", {"dense", "loss", "merge", "norm", "pool"}},
    {"ops/conv/", {"narrow", "norm_conv", "small_map", "toom_cook", "winograd"}},
    {"train/", {"server", "worker"}},
};

// "winograd" of "ops/conv/winograd/plan.h" below "ops/conv/"; empty when the path is elsewhere or in no such room.
std::string room_below(const std::string& folder, const std::string& path) {
  if (!path.starts_with(folder)) return {};
  const std::size_t end = path.find('/', folder.size());
  return end == std::string::npos ? std::string{} : path.substr(folder.size(), end - folder.size());
}

// Parts whose arithmetic reaches the weights.
constexpr std::array kBitMakers = {"tensor", "ops", "graph", "crew", "models", "optim", "data"};

}  // namespace

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
    };
    a["train"] = {"crew", "models", "optim", "store", "data", "strategy", "cluster"};
    a["bench"] = {"compare", "plan"};
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
  static const std::regex pattern(
      R"(^\s*trireme_part\(\s*(\w+)\s+(?:CONTROL\s+)?DEPENDS([\w\s]*?)(\s+LINK.*|\s*\).*))");
  static const std::regex word(R"(\w+)");
  Arrows arrows;
  each_line(cmake_lists, [&](int, const std::string& line) {
    std::smatch match;
    if (!std::regex_match(line, match, pattern)) return;
    const std::string depends = match[2];
    auto& targets = arrows[match[1]];
    for (std::sregex_iterator i(depends.begin(), depends.end(), word), end; i != end; ++i) targets.insert(i->str());
  });
  return arrows;
}

std::string without_comments(std::string_view cpp) {
  std::string code;
  for (std::size_t i = 0; i < cpp.size(); ++i) {
    const std::string_view rest = cpp.substr(i);
    // Copies the line ends of [i, end) and goes on at end.
    const auto skip_to = [&](std::size_t end) {
      end = std::min(end, cpp.size());
      for (; i < end; ++i)
        if (cpp[i] == '\n') code += '\n';
      --i;
    };
    if (rest.starts_with("//")) {
      skip_to(cpp.find('\n', i));
    } else if (rest.starts_with("/*")) {
      const std::size_t end = cpp.find("*/", i + 2);
      skip_to(end == std::string_view::npos ? end : end + 2);
    } else if (rest.starts_with("R\"")) {
      const std::size_t open = std::min(cpp.find('(', i), cpp.size());
      const std::string close = ")" + std::string(cpp.substr(i + 2, open - i - 2)) + "\"";
      const std::size_t end = cpp.find(close, open);
      skip_to(end == std::string_view::npos ? end : end + close.size());
      code += "\"\"";
    } else if (cpp[i] == '"' || (cpp[i] == '\'' && (i == 0 || !std::isalnum(static_cast<unsigned char>(cpp[i - 1]))))) {
      const char quote = cpp[i];
      code += quote;
      for (++i; i < cpp.size() && cpp[i] != quote && cpp[i] != '\n'; ++i)
        if (cpp[i] == '\\') ++i;
      code += i < cpp.size() ? cpp[i] : quote;
    } else {
      code += cpp[i];
    }
  }
  return code;
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

Offences check_library_headers(const SourceFile& file) {
  const bool gate = file.path.starts_with("src/ops/core/onednn");
  Offences offences;
  for (const Include& include : includes_of(file)) {
    const auto starts = [&](std::string_view prefix) { return include.path.starts_with(prefix); };
    const auto offence = [&](std::string_view why) {
      offences.push_back(fmt::format("{}:{}: includes {}: {}", file.path, include.line, include.path, why));
    };
    if (!gate && (starts("dnnl") || starts("oneapi/") || starts("mkldnn")))
      offence("oneDNN is used only through the gate in src/ops/core/onednn*");
    if (!gate && starts("omp.h")) offence("OpenMP's settings are made only in the gate, src/ops/core/onednn*");
    if (is_header(file.path) && (starts("nlohmann/") || starts("spdlog/") || starts("CLI/") || starts("toml++/")))
      offence("heavy headers belong into .cpp files");
  }
  return offences;
}

Offences check_environment(const SourceFile& file) {
  if (std::find(kEnvironmentReaders.begin(), kEnvironmentReaders.end(), file.path) != kEnvironmentReaders.end())
    return {};
  static const std::regex pattern(R"(\b(secure_)?getenv\b|\benviron\b)");
  return matching_lines(file, without_comments(file.text), pattern,
                        "the environment is read only in the files listed in tests/structure/rules.cpp");
}

Offences check_libm(const SourceFile& file) {
  if (std::find(kBitMakers.begin(), kBitMakers.end(), part_of(file.path)) == kBitMakers.end()) return {};
  if (name_of(file.path).find("reference") != std::string::npos) return {};
  // Calls of std::exp, ::exp, exp, expf, __builtin_exp; not base::exp, x.log(), log1, nor the declaration of a function
  // of ours by such a name: those follow a type, calls follow an operator, a bracket or `return`, and have arguments.
  static const std::regex pattern(
      R"((^\s*|[^\w\s.:>*&]\s*|\s[*&]\s*|\breturn\s+|\bstd::|(^|[^\w>])::|__builtin_))"
      R"((exp|exp2|expm1|log|log2|log10|log1p|pow|tanh|sinh|cosh|sin|cos|tan|asin|acos|atan|atan2|asinh|acosh|atanh|)"
      R"(erf|erfc|tgamma|lgamma|cbrt|hypot)[fl]?\s*\((?!\s*\)))");
  return matching_lines(
      file, without_comments(file.text), pattern,
      "libm picks variants by CPU; use base/cpu/math.h, or put a reference into a file with 'reference' "
      "in its name");
}

Offences check_build_flags(const SourceFile& file) {
  std::string code;
  each_line(file.text, [&](int, const std::string& line) { code += line.substr(0, line.find('#')) + "\n"; });
  static const std::regex pattern(
      R"(-ffast-math|-Ofast|-march=|-mtune=|-mfma\b|-mavx\w*|-funsafe-math-optimizations|-fassociative-math|)"
      R"(-ffp-contract=(fast|on))");
  return matching_lines(file, code, pattern, "bits would depend on the compiler's machine");
}

Offences check_length(const SourceFile& file) {
  const auto lines = std::count(file.text.begin(), file.text.end(), '\n');
  const bool short_one = file.path.starts_with("src/") && !kLongFiles.contains(file.path);
  const int most = short_one ? kLongestSourceFile : kLongestFile;
  if (lines <= most) return {};
  return {fmt::format("{}: {} lines, at most {} are allowed; split it by idea", file.path, lines, most)};
}

Offences check_sibling_rooms(const SourceFile& file) {
  Offences offences;
  const std::string inside = file.path.substr(std::string_view("src/").size());
  for (const auto& [folder, rooms] : kSiblings) {
    const std::string own = room_below(folder, inside);
    if (!rooms.contains(own)) continue;
    for (const Include& include : includes_of(file)) {
      const std::string other = room_below(folder, include.path);
      if (other != own && rooms.contains(other))
        offences.push_back(fmt::format("{}:{}: includes {}: {} may not use {}; put what they share into {}", file.path,
                                       include.line, include.path, own, other, folder));
    }
  }
  return offences;
}

Offences check_folder_sizes(const std::set<std::string>& paths) {
  std::map<std::string, int> sizes;
  for (const std::string& path : paths) ++sizes[path.substr(0, path.rfind('/'))];
  Offences offences;
  for (const auto& [folder, size] : sizes)
    if (size > kLargestFolder)
      offences.push_back(
          fmt::format("{}: {} files, at most {} are allowed; give it rooms", folder, size, kLargestFolder));
  return offences;
}

}  // namespace trireme::structure
