#include "structure/markdown.h"

#include <fmt/core.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <regex>

namespace trireme::structure {
namespace {

// Calls visit(line number from 1, line) for each line outside of ``` blocks.
template <class Visit>
void each_line_of_text(std::string_view markdown, const Visit& visit) {
  bool code = false;
  int number = 1;
  for (std::size_t begin = 0; begin < markdown.size(); ++number) {
    const std::size_t end = std::min(markdown.find('\n', begin), markdown.size());
    const std::string line(markdown.substr(begin, end - begin));
    const std::size_t first = line.find_first_not_of(' ');
    const bool fence = first != std::string::npos && line.compare(first, 3, "```") == 0;
    if (fence) code = !code;
    if (!fence && !code) visit(number, line);
    begin = end + 1;
  }
}

bool is_continuation(char byte) { return (static_cast<unsigned char>(byte) & 0xC0) == 0x80; }

// The heading's text as GitHub turns it into an anchor: small letters, no punctuation, a dash for each blank.
std::string slug(const std::string& heading) {
  std::string anchor;
  for (const char c : heading) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte >= 0x80 || std::isalnum(byte) || c == '-' || c == '_')
      anchor += static_cast<char>(byte < 0x80 ? std::tolower(byte) : byte);
    else if (c == ' ')
      anchor += '-';
  }
  return anchor;
}

const std::regex kLink(R"(\]\(([^()\s]+)\))");

}  // namespace

std::set<std::string> anchors_of(std::string_view markdown) {
  static const std::regex heading(R"(#{1,6} +(.*?) *)");
  std::set<std::string> anchors;
  std::map<std::string, int> seen;
  each_line_of_text(markdown, [&](int, const std::string& line) {
    std::smatch match;
    if (!std::regex_match(line, match, heading)) return;
    const std::string anchor = slug(match[1]);
    const int before = seen[anchor]++;
    anchors.insert(before == 0 ? anchor : fmt::format("{}-{}", anchor, before));
  });
  return anchors;
}

Offences check_links(const SourceFile& page, const TextOf& text_of) {
  namespace fs = std::filesystem;
  Offences offences;
  each_line_of_text(page.text, [&](int number, const std::string& line) {
    for (std::sregex_iterator link(line.begin(), line.end(), kLink), end; link != end; ++link) {
      const std::string target = link->str(1);
      if (target.find("://") != std::string::npos || target.starts_with("mailto:")) continue;
      const std::size_t hash = target.find('#');
      const std::string file = target.substr(0, hash);
      const std::string path =
          file.empty() ? page.path : (fs::path(page.path).parent_path() / file).lexically_normal().generic_string();
      const std::string* text = text_of(path);
      if (text == nullptr)
        offences.push_back(fmt::format("{}:{}: links to {}, which does not exist", page.path, number, path));
      else if (hash != std::string::npos && !anchors_of(*text).contains(target.substr(hash + 1)))
        offences.push_back(
            fmt::format("{}:{}: links to {}, which has no heading '{}'", page.path, number, path, target.substr(hash)));
    }
  });
  return offences;
}

Offences check_paths(const SourceFile& page, const TextOf& text_of) {
  static const std::regex named(R"(`((?:src|tests|bench|examples|peers|scripts|docs|fuzz|cmake)/[\w./-]+)`)");
  static const std::regex pattern(R"(/[A-Z]+([._/]|$))");
  Offences offences;
  each_line_of_text(page.text, [&](int number, const std::string& line) {
    for (std::sregex_iterator path(line.begin(), line.end(), named), end; path != end; ++path)
      if (!std::regex_search(path->str(1), pattern) && text_of(path->str(1)) == nullptr)
        offences.push_back(fmt::format("{}:{}: names {}, which does not exist", page.path, number, path->str(1)));
  });
  return offences;
}

Offences check_line_lengths(const SourceFile& page) {
  Offences offences;
  each_line_of_text(page.text, [&](int number, const std::string& line) {
    if (line.starts_with("|")) return;
    const std::string shown = std::regex_replace(line, kLink, "]");
    const auto length = shown.size() - static_cast<std::size_t>(std::ranges::count_if(shown, is_continuation));
    if (length > kLongestLine)
      offences.push_back(fmt::format("{}:{}: {} characters, at most {} are allowed; wrap the line", page.path, number,
                                     length, kLongestLine));
  });
  return offences;
}

}  // namespace trireme::structure
