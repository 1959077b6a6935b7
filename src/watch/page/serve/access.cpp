#include "watch/page/serve/access.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <sys/random.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>

#include "base/error.h"
#include "base/hash.h"
#include "base/system/files.h"

namespace trireme::watch {
namespace {

constexpr std::size_t kShortestToken = 16, kLongestToken = 256;
constexpr std::string_view kCookie = "trireme_token";

// "name" of "name:80" and "[::1]:80".
std::string host_name_of(std::string_view host) {
  if (host.starts_with('[')) {
    const std::size_t end = host.find(']');
    return std::string(end == std::string_view::npos ? host : host.substr(1, end - 1));
  }
  std::string name(host.substr(0, host.find(':')));
  std::ranges::transform(name, name.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return name;
}

bool is_number_address(const std::string& name) {
  std::array<unsigned char, 16> address{};
  return ::inet_pton(AF_INET, name.c_str(), address.data()) == 1 ||
         ::inet_pton(AF_INET6, name.c_str(), address.data()) == 1;
}

std::string this_host() {
  std::array<char, 256> name{};
  if (::gethostname(name.data(), name.size() - 1) != 0) return {};
  return host_name_of(name.data());
}

// The value of our cookie among all: "a=1; trireme_token_8743=...".
bool has_cookie(std::string_view cookies, std::string_view token) {
  while (!cookies.empty()) {
    std::string_view one = cookies.substr(0, cookies.find(';'));
    cookies.remove_prefix(std::min(cookies.size(), one.size() + 1));
    while (one.starts_with(' ')) one.remove_prefix(1);
    if (!one.starts_with(kCookie)) continue;
    const std::size_t equals = one.find('=');
    if (equals != std::string_view::npos && are_equal_secrets(one.substr(equals + 1), token)) return true;
  }
  return false;
}

}  // namespace

bool is_loopback(std::string_view address) {
  return address == "localhost" || address == "::1" ||
         (address.starts_with("127.") && is_number_address(std::string(address)));
}

bool are_equal_secrets(std::string_view a, std::string_view b) {
  return base::equal_secrets(std::as_bytes(std::span(a)), std::as_bytes(std::span(b)));
}

std::string new_token() {
  std::array<unsigned char, 16> bytes{};
  if (::getrandom(bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size()))
    base::run_error("the system gives no random numbers for the page's token; give one with a token file");
  std::string token;
  for (const unsigned char byte : bytes) token += fmt::format("{:02x}", byte);
  return token;
}

std::string token_of_file(const std::string& path) {
  std::string token = base::read_text(path);
  while (!token.empty() && std::isspace(static_cast<unsigned char>(token.back()))) token.pop_back();
  const bool is_plain = std::ranges::all_of(
      token, [](unsigned char c) { return std::isalnum(c) || c == '-' || c == '_' || c == '.' || c == '~'; });
  if (token.size() < kShortestToken || token.size() > kLongestToken || !is_plain)
    base::user_error(
        "{} has no usable token: expected one line with {} to {} letters, digits or -_.~; make one with: "
        "openssl rand -hex 16 > {}",
        path, kShortestToken, kLongestToken, path);
  return token;
}

// Names that a foreign web site's owner cannot point at this host: its own, and numbers.
bool Access::is_own_host(std::string_view host) const {
  const std::string name = host_name_of(host);
  if (name.empty()) return false;
  if (is_loopback(address_)) return is_loopback(name) || name == "0:0:0:0:0:0:0:1";
  if (is_number_address(name) || is_loopback(name) || name == host_name_of(address_)) return true;
  const std::string own = this_host();
  return !own.empty() && (name == own || name.starts_with(own + ".") || own.starts_with(name + "."));
}

bool Access::knows_token(const Credentials& credentials) const {
  if (are_equal_secrets(credentials.token, token_) || has_cookie(credentials.cookie, token_)) return true;
  constexpr std::string_view kBearer = "Bearer ";
  return credentials.authorization.starts_with(kBearer) &&
         are_equal_secrets(std::string_view(credentials.authorization).substr(kBearer.size()), token_);
}

std::optional<Refusal> Access::refusal_of(const Credentials& credentials) const {
  if (!is_own_host(credentials.host))
    return Refusal{403, "this is not the name of this host; use its address, as the program printed it"};
  const bool is_foreign = !credentials.origin.empty() && credentials.origin != "http://" + credentials.host;
  const bool is_led_here = credentials.fetch_site == "cross-site" && credentials.fetch_mode != "navigate";
  if (is_foreign || is_led_here) return Refusal{403, "requests from other pages are refused"};
  if (credentials.is_post && credentials.origin.empty()) return Refusal{403, "only the page itself may ask for this"};
  if (!token_.empty() && !knows_token(credentials))
    return Refusal{401, "this page needs its token: open the address that the program printed, with ?token=..."};
  return {};
}

bool Access::is_first_visit(const Credentials& credentials) const {
  return !token_.empty() && are_equal_secrets(credentials.token, token_);
}

std::string Access::cookie(int port) const {
  return fmt::format("{}_{}={}; Path=/; HttpOnly; SameSite=Strict", kCookie, port, token_);
}

}  // namespace trireme::watch
