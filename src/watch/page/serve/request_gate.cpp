#include "watch/page/serve/request_gate.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "base/system/clock.h"

namespace trireme::watch {
namespace {

constexpr std::string_view kTokenMarks = "!#$%&'*+-.^_`|~";

bool is_token(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](unsigned char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           kTokenMarks.find(static_cast<char>(c)) != std::string_view::npos;
  });
}

bool equals_ignoring_case(std::string_view a, std::string_view b) {
  return std::ranges::equal(a, b, [](unsigned char x, unsigned char y) {
    const auto lower = [](unsigned char c) { return c >= 'A' && c <= 'Z' ? c + 32 : c; };
    return lower(x) == lower(y);
  });
}

std::string_view without_spaces(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

// Cuts the next line, which must end with CR LF and have no other control characters.
std::optional<std::string_view> take_line(std::string_view& rest) {
  const std::size_t end = rest.find("\r\n");
  if (end == std::string_view::npos) return {};
  const std::string_view line = rest.substr(0, end);
  rest.remove_prefix(end + 2);
  const bool is_clean = std::ranges::all_of(line, [](unsigned char c) { return c == '\t' || (c >= 32 && c != 127); });
  return is_clean ? std::optional(line) : std::nullopt;
}

std::optional<Refusal> refusal_of_request_line(std::string_view line) {
  const std::size_t first = line.find(' '), last = line.rfind(' ');
  if (first == std::string_view::npos || first == last) return Refusal{400, "this is no request line of HTTP"};
  const std::string_view method = line.substr(0, first), target = line.substr(first + 1, last - first - 1),
                         version = line.substr(last + 1);
  if (version != "HTTP/1.1" && version != "HTTP/1.0") return Refusal{505, "only HTTP/1.1 is spoken here"};
  if (!is_token(method)) return Refusal{400, "this is no request line of HTTP"};
  if (method != "GET" && method != "HEAD" && method != "POST")
    return Refusal{405, "only GET and HEAD are answered here"};
  if (target.size() > kLongestTarget) return Refusal{414, "the address is too long"};
  const bool is_path = target.starts_with('/') &&
                       std::ranges::all_of(target, [](unsigned char c) { return c > 32 && c < 127 && c != '#'; });
  if (!is_path) return Refusal{400, "the address must be a path"};
  return {};
}

std::optional<Refusal> refusal_of_header(std::string_view name, std::string_view value) {
  const auto is = [&](std::string_view other) { return equals_ignoring_case(name, other); };
  if (is("Content-Length") && value != "0") return Refusal{413, "requests with a body are not taken"};
  if (is("Transfer-Encoding") || is("Trailer")) return Refusal{413, "requests with a body are not taken"};
  if (is("Range")) return Refusal{416, "parts of files are not sent"};
  if (is("Expect")) return Refusal{417, "nothing is expected here"};
  return {};
}

}  // namespace

std::optional<Refusal> refusal_of(std::string_view head) {
  if (head.size() > kLongestHead) return Refusal{431, "the request is too long"};
  if (!head.ends_with("\r\n\r\n")) return Refusal{400, "the request is not whole"};
  head.remove_suffix(2);
  const std::optional<std::string_view> request = take_line(head);
  if (!request) return Refusal{400, "this is no request of HTTP"};
  if (auto refusal = refusal_of_request_line(*request)) return refusal;
  std::size_t headers = 0, hosts = 0;
  while (!head.empty()) {
    const std::optional<std::string_view> line = take_line(head);
    if (!line) return Refusal{400, "a header has characters that may not be there"};
    if (++headers > kMostHeaders) return Refusal{431, "the request has too many headers"};
    const std::size_t colon = line->find(':');
    if (colon == std::string_view::npos || !is_token(line->substr(0, colon)))
      return Refusal{400, "a header has no name"};
    const std::string_view name = line->substr(0, colon), value = without_spaces(line->substr(colon + 1));
    if (auto refusal = refusal_of_header(name, value)) return refusal;
    hosts += equals_ignoring_case(name, "Host");
  }
  if (hosts != 1) return Refusal{400, "a request names its host once"};
  return {};
}

std::string without_header(const std::string& head, std::string_view name) {
  std::string rest;
  for (std::size_t begin = 0; begin < head.size();) {
    const std::size_t end = std::min(head.find("\r\n", begin), head.size() - 2) + 2;
    const std::string_view line = std::string_view(head).substr(begin, end - begin);
    if (!equals_ignoring_case(line.substr(0, line.find(':')), name)) rest += line;
    begin = end;
  }
  return rest;
}

HeadOrRefusal read_head(int socket, double seconds) {
  const std::int64_t deadline = base::in_seconds(seconds);
  std::string head;
  std::array<char, 4096> buffer{};
  for (;;) {
    const std::int64_t left = (deadline - base::now_ns()) / 1'000'000;
    if (left <= 0) return head.empty() ? HeadOrRefusal() : Refusal{408, "the request took too long to arrive"};
    pollfd waited{socket, POLLIN, 0};
    if (::poll(&waited, 1, static_cast<int>(left)) <= 0) continue;
    const ssize_t got = ::recv(socket, buffer.data(), buffer.size(), 0);
    if (got < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (got <= 0) return {};
    const std::size_t from = head.size() < 3 ? 0 : head.size() - 3;
    head.append(buffer.data(), static_cast<std::size_t>(got));
    if (const std::size_t end = head.find("\r\n\r\n", from); end != std::string::npos) {
      head.resize(end + 4);
      if (auto refusal = refusal_of(head)) return *refusal;
      return head;
    }
    if (head.size() > kLongestHead) {
      const bool is_first_line = head.find("\r\n") == std::string::npos;
      return Refusal{is_first_line ? 414 : 431, is_first_line ? "the address is too long" : "the request is too long"};
    }
  }
}

const char* reason_of(int status) {
  switch (status) {
    case 400: return "Bad Request";
    case 401: return "Unauthorized";
    case 403: return "Forbidden";
    case 404: return "Not Found";
    case 405: return "Method Not Allowed";
    case 409: return "Conflict";
    case 408: return "Request Timeout";
    case 413: return "Content Too Large";
    case 414: return "URI Too Long";
    case 416: return "Range Not Satisfiable";
    case 417: return "Expectation Failed";
    case 431: return "Request Header Fields Too Large";
    case 503: return "Service Unavailable";
    case 505: return "HTTP Version Not Supported";
    default: return "Error";
  }
}

std::string plain_response(int status, std::string_view sentence, bool has_body) {
  return fmt::format(
      "HTTP/1.1 {} {}\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: {}\r\nConnection: close\r\n"
      "X-Content-Type-Options: nosniff\r\n{}\r\n{}",
      status, reason_of(status), sentence.size() + 1, status == 503 ? "Retry-After: 5\r\n" : "",
      has_body ? fmt::format("{}\n", sentence) : "");
}

}  // namespace trireme::watch
