#include "structure/rules.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <map>
#include <regex>

namespace trireme::structure {
namespace {

std::string name_of(const std::string& path) { return path.substr(path.rfind('/') + 1); }
bool is_header(const std::string& path) { return path.ends_with(".h"); }

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

// Where the environment may be read: one file for finding data, one for the command line, one for what launchers tell,
// one for what terminals take.
constexpr std::array kEnvironmentReaders = {"src/data/readers/find_data.cpp", "src/bench/environment.cpp",
                                            "src/cluster/environment.cpp", "src/base/system/terminal.cpp"};

// Files of src that may be longer than kLongestSourceFile, and why.
const std::map<std::string, std::string> kLongFiles = {
    {"src/crew/crew.cpp", "the set-up of a crew: its parts are built from each other in one order"},
    {"src/train/run/job.cpp", "the life of a process from joining to leaving, told in the order in which it happens"},
};

// Parts whose arithmetic reaches the weights.
constexpr std::array kBitMakers = {"tensor", "ops", "graph", "crew", "models", "optim", "data"};

}  // namespace

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
    const bool is_light = include.path == "nlohmann/json_fwd.hpp" ||
                          include.path == "toml++/impl/forward_declarations.h";  // declarations only
    if (is_header(file.path) && !is_light &&
        (starts("nlohmann/") || starts("spdlog/") || starts("CLI/") || starts("toml++/")))
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

}  // namespace trireme::structure
