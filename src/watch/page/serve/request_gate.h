// RequestGate: reads the head of a request and refuses what the page never needs, before the HTTP library sees it.
// Functions are thread-safe.
//
// The library has no bound on the number of headers, none on the time that a request may take to arrive, and takes
// bodies that are sent in chunks without a limit. The page's requests are small and have no body.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <variant>

namespace trireme::watch {

struct Refusal {
  int status = 400;
  std::string sentence;
};

inline constexpr std::size_t kLongestHead = 16 << 10, kLongestTarget = 2048, kMostHeaders = 64;

// Why a head, with the empty line that ends it, is refused.
std::optional<Refusal> refusal_of(std::string_view head);

// The whole head. Nothing when the browser went away without a word.
using HeadOrRefusal = std::variant<std::monostate, std::string, Refusal>;
HeadOrRefusal read_head(int socket, double seconds);

// The head without a header, whose name is given in small letters.
std::string without_header(const std::string& head, std::string_view name);

// A whole response with a short text.
std::string plain_response(int status, std::string_view sentence, bool has_body);
const char* reason_of(int status);

}  // namespace trireme::watch
