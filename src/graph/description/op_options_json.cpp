#include "graph/description/op_options_json.h"

#include <charconv>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/text/text.h"
#include "ops/core/op_registry.h"

namespace trireme::graph {
namespace {

using OrderedJson = nlohmann::ordered_json;

// The whole text as a number, if that number is written back as the same text.
template <class Number>
bool is_number(const std::string& text, Number& number) {
  const char* end = text.data() + text.size();
  const auto [stop, cause] = std::from_chars(text.data(), end, number);
  return cause == std::errc() && stop == end && fmt::format("{}", number) == text;
}

// "3x3" as sizes.
bool are_sizes(const std::string& text, std::vector<std::int64_t>& sizes) {
  for (const std::string& part : base::split(text, 'x')) {
    std::int64_t size = 0;
    if (!is_number(part, size)) return false;
    sizes.push_back(size);
  }
  return sizes.size() > 1;
}

OrderedJson option_json(const std::string& text) {
  if (text == "yes" || text == "no") return text == "yes";
  std::int64_t whole = 0;
  if (is_number(text, whole)) return whole;
  double real = 0;
  if (is_number(text, real) && std::isfinite(real)) return real;
  std::vector<std::int64_t> sizes;
  if (are_sizes(text, sizes)) return sizes;
  return text;
}

}  // namespace

OrderedJson options_json(const ops::Op& op) {
  OrderedJson options = OrderedJson::object();
  for (const auto& [key, value] : base::Spec("op", ops::op_text(op)).all()) options[key] = option_json(value);
  return options;
}

std::string option_text(const OrderedJson& value, const std::string& where) {
  if (value.is_boolean()) return value.get<bool>() ? "yes" : "no";
  if (value.is_number_unsigned()) return std::to_string(value.get<std::uint64_t>());
  if (value.is_number_integer()) return std::to_string(value.get<std::int64_t>());
  if (value.is_number_float()) return fmt::format("{}", value.get<double>());
  if (value.is_array() && !value.empty()) {
    std::vector<std::string> sizes;
    for (const OrderedJson& size : value) {
      if (!size.is_number_integer()) base::user_error("{}: {} is no list of whole numbers", where, value.dump());
      sizes.push_back(std::to_string(size.get<std::int64_t>()));
    }
    return base::join(sizes, "x");
  }
  if (value.is_string()) {
    const auto text = value.get<std::string>();
    if (!text.empty() && text.find(',') == std::string::npos) return text;
  }
  base::user_error("{}: {} is no value of an option; expected a number, true or false, a text or sizes such as [3, 3]",
                   where, value.dump(-1, ' ', false, OrderedJson::error_handler_t::replace));
}

}  // namespace trireme::graph
