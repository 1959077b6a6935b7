#include "data/readers/numpy/npy_header.h"

#include <cctype>
#include <utility>
#include <vector>

#include "base/error.h"

namespace trireme::data {
namespace {

constexpr std::size_t kMaxRank = 8;
constexpr std::int64_t kMaxValues = std::int64_t{1} << 40;

// Parses the header text from left to right.
class Parser {
 public:
  Parser(std::string_view text, const std::string& where) : text_(text), where_(where) {}

  NpyHeader parse() {
    NpyHeader header;
    bool has_type = false, has_order = false, has_shape = false;
    expect('{');
    while (!take('}')) {
      const std::string_view key = quoted();
      expect(':');
      if (key != "descr" && key != "fortran_order" && key != "shape") broken("has a key that NumPy does not write");
      bool& has = key == "descr" ? has_type : key == "fortran_order" ? has_order : has_shape;
      if (has) broken("has '" + std::string(key) + "' twice");
      has = true;
      if (key == "descr")
        parse_type(header);
      else if (key == "fortran_order")
        header.fortran_order = truth();
      else
        header.shape = shape();
      if (!take(',')) {
        expect('}');
        break;
      }
    }
    skip_spaces();
    if (!text_.empty()) broken("goes on behind its closing brace");
    if (!has_type || !has_order || !has_shape) broken("lacks 'descr', 'fortran_order' or 'shape'");
    return header;
  }

 private:
  [[noreturn]] void broken(const std::string& why) const {
    base::user_error("{} is damaged: the NumPy header {}; save the array again with np.save", where_, why);
  }

  void skip_spaces() {
    while (!text_.empty() && (text_[0] == ' ' || text_[0] == '\n')) text_.remove_prefix(1);
  }

  bool take(char c) {
    skip_spaces();
    if (text_.empty() || text_[0] != c) return false;
    text_.remove_prefix(1);
    return true;
  }

  void expect(char c) {
    if (!take(c)) broken(std::string("has no '") + c + "' where one is expected");
  }

  bool take_word(std::string_view word) {
    skip_spaces();
    if (!text_.starts_with(word)) return false;
    text_.remove_prefix(word.size());
    return true;
  }

  std::string_view quoted() {
    skip_spaces();
    if (text_.empty() || (text_[0] != '\'' && text_[0] != '"')) broken("has no text in quotes where one is expected");
    const std::size_t end = text_.find(text_[0], 1);
    if (end == std::string_view::npos) broken("has a quote without its end");
    const std::string_view inside = text_.substr(1, end - 1);
    text_.remove_prefix(end + 1);
    return inside;
  }

  bool truth() {
    if (take_word("True")) return true;
    if (!take_word("False")) broken("says neither True nor False for 'fortran_order'");
    return false;
  }

  std::int64_t size() {
    skip_spaces();
    std::int64_t n = 0;
    std::size_t digits = 0;
    for (; digits < text_.size() && std::isdigit(static_cast<unsigned char>(text_[digits])); ++digits) {
      n = 10 * n + (text_[digits] - '0');
      if (n > kMaxValues) base::user_error("{} promises more than {} values; it is damaged", where_, kMaxValues);
    }
    if (digits == 0) broken("has a shape with something that is no whole number");
    text_.remove_prefix(digits);
    if (!text_.empty() && text_[0] == 'L') text_.remove_prefix(1);  // Python 2 wrote 60000L
    return n;
  }

  tensor::Shape shape() {
    std::vector<std::int64_t> sizes;
    std::int64_t values = 1;
    expect('(');
    while (!take(')')) {
      if (sizes.size() == kMaxRank) base::user_error("{} has more than {} dimensions", where_, kMaxRank);
      const std::int64_t n = size();
      if (n == 0) base::user_error("{} is empty: a size of its shape is 0", where_);
      if (n > kMaxValues / values)
        base::user_error("{} promises more than {} values; it is damaged", where_, kMaxValues);
      values *= n;
      sizes.push_back(n);
      if (!take(',')) {
        expect(')');
        break;
      }
    }
    return tensor::Shape(std::move(sizes));
  }

  void parse_type(NpyHeader& header) {
    skip_spaces();
    if (!text_.empty() && text_[0] == '[')
      base::user_error("{} holds records of several fields; save each field as an array of its own", where_);
    const std::string_view type = quoted();
    if (type.size() >= 2 && type[1] == 'O')
      base::user_error("{} holds pickled Python objects, which are not read; save numbers: np.asarray(x, 'float32')",
                       where_);
    const auto refuse = [&] {
      base::user_error("{} has values of the type '{}'; expected whole numbers, floats or booleans of up to 8 bytes",
                       where_, printable(type));
    };
    if (type.size() != 3) refuse();
    const char order = type[0];
    header.kind = type[1];
    header.value_bytes = static_cast<std::size_t>(type[2] - '0');
    const bool fits = header.kind == 'b'   ? type[2] == '1'
                      : header.kind == 'f' ? type[2] == '2' || type[2] == '4' || type[2] == '8'
                      : header.kind == 'u' || header.kind == 'i'
                          ? type[2] == '1' || type[2] == '2' || type[2] == '4' || type[2] == '8'
                          : false;
    const bool ordered = order == '<' || order == '>' || order == '=' || (order == '|' && type[2] == '1');
    if (!fits || !ordered) refuse();
    header.big_endian = order == '>';
  }

  static std::string printable(std::string_view text) {
    std::string shown(text.substr(0, 20));
    for (char& c : shown)
      if (!std::isprint(static_cast<unsigned char>(c))) c = '?';
    return shown;
  }

  std::string_view text_;
  const std::string& where_;
};

}  // namespace

NpyHeader parse_npy_header(std::string_view text, const std::string& where) { return Parser(text, where).parse(); }

}  // namespace trireme::data
