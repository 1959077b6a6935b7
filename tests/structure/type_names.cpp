#include "structure/type_names.h"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <cctype>
#include <map>
#include <set>

namespace trireme::structure {
namespace {

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }

// Words and single characters of code without comments and preprocessor lines.
std::vector<std::string> tokens_of(const SourceFile& file) {
  std::string code;
  bool is_directive = false;
  each_line(without_comments(file.text), [&](int, const std::string& line) {
    const std::size_t first = line.find_first_not_of(" \t");
    is_directive = is_directive || (first != std::string::npos && line[first] == '#');
    if (!is_directive) code += line + "\n";
    is_directive = is_directive && line.ends_with('\\');
  });
  std::vector<std::string> tokens;
  for (std::size_t i = 0; i < code.size();) {
    std::size_t end = i + 1;
    if (is_word(code[i]))
      while (end < code.size() && is_word(code[end])) ++end;
    if (!std::isspace(static_cast<unsigned char>(code[i]))) tokens.push_back(code.substr(i, end - i));
    i = end;
  }
  return tokens;
}

// Walks over the tokens of a header, and knows what is at namespace scope.
class Reader {
 public:
  explicit Reader(const SourceFile& header) : tokens_(tokens_of(header)) {}

  std::vector<std::string> types() {
    while (at_ < tokens_.size()) {
      const std::string token = tokens_[at_++];
      if (token == "{") {
        skip_block("{", "}");
      } else if (token == "(") {
        skip_block("(", ")");
      } else if (token == "namespace" || token == "extern") {
        enter_scope();
      } else if (token == "template") {
        ++at_;
        skip_block("<", ">");
      } else if (token == "using") {
        read_alias();
      } else if (token == "class" || token == "struct" || token == "union" || token == "enum") {
        read_type();
      }
    }
    return types_;
  }

 private:
  std::string peek(std::size_t ahead = 0) const { return at_ + ahead < tokens_.size() ? tokens_[at_ + ahead] : ""; }

  // To behind what closes a block that was just opened.
  void skip_block(const std::string& open, const std::string& close) {
    for (int depth = 1; depth > 0 && at_ < tokens_.size(); ++at_) {
      if (tokens_[at_] == open) ++depth;
      if (tokens_[at_] == close) --depth;
    }
  }

  // `namespace a::b {` and `extern "C" {`: what is inside is at namespace scope, its closing brace means nothing.
  void enter_scope() {
    while (is_word(peek()[0]) || peek() == ":" || peek() == "\"") ++at_;
    if (peek() == "{") ++at_;
  }

  void read_alias() {
    if (peek(1) == "=") types_.push_back(peek());
  }

  // Unnamed ones, specializations and those of another scope's (`struct A::B {`) make no new name.
  void read_type() {
    if (peek() == "class" || peek() == "struct") ++at_;  // enum class
    while (peek() == "[" || peek() == "alignas") {
      const bool is_attribute = peek() == "[";
      at_ += is_attribute ? 1 : 2;
      skip_block(is_attribute ? "[" : "(", is_attribute ? "]" : ")");
    }
    const std::string name = peek();
    const bool is_new = !name.empty() && is_word(name[0]) && peek(1) != "<" && !(peek(1) == ":" && peek(2) == ":");
    while (at_ < tokens_.size() && peek() != "{" && peek() != ";" && peek() != "(" && peek() != "=") ++at_;
    if (is_new && peek() == "{") types_.push_back(name);
  }

  std::vector<std::string> tokens_;
  std::size_t at_ = 0;
  std::vector<std::string> types_;
};

}  // namespace

std::vector<std::string> types_of(const SourceFile& header) { return Reader(header).types(); }

Offences check_type_names(const std::vector<SourceFile>& files) {
  std::map<std::string, std::map<std::string, std::set<std::string>>> headers;  // by name and part
  for (const SourceFile& file : files)
    if (file.path.ends_with(".h"))
      for (const std::string& type : types_of(file)) headers[type][part_of(file.path)].insert(file.path);
  Offences offences;
  for (const auto& [type, by_part] : headers) {
    if (by_part.size() == 1) continue;
    std::vector<std::string> all;
    for (const auto& [part, paths] : by_part) all.insert(all.end(), paths.begin(), paths.end());
    offences.push_back(
        fmt::format("{}: defined in headers of several parts: {}; give each its own name", type, fmt::join(all, ", ")));
  }
  return offences;
}

}  // namespace trireme::structure
