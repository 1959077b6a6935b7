#include "structure/source_file.h"

#include <algorithm>
#include <cctype>
#include <regex>

namespace trireme::structure {

void each_line(std::string_view text, const std::function<void(int number, const std::string& line)>& visit) {
  int number = 1;
  for (std::size_t begin = 0; begin < text.size(); ++number) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    visit(number, std::string(text.substr(begin, end - begin)));
    begin = end + 1;
  }
}

std::vector<Include> includes_of(const SourceFile& file) {
  static const std::regex pattern(R"(^\s*#\s*include\s*(["<])([^">]+)[">].*)");
  std::vector<Include> found;
  each_line(file.text, [&](int number, const std::string& line) {
    std::smatch match;
    if (std::regex_match(line, match, pattern)) found.push_back({number, match[1] == "\"", match[2]});
  });
  return found;
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

std::string part_of(const std::string& path) {
  const std::string inside = path.substr(std::string_view("src/").size());
  return inside.substr(0, inside.find_first_of("/."));
}

}  // namespace trireme::structure
