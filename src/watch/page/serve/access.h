// Access: who may see the page: whoever reaches it on this host; from elsewhere, and where the page may steer the run,
// who has the token.
// Immutable, so thread-safe.
//
// Also refuses what other web sites make a browser ask: a name that leads to this host by a trick (DNS rebinding), and
// requests from pages of another origin.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "watch/page/serve/request_gate.h"

namespace trireme::watch {

// What a request says about where it comes from.
struct Credentials {
  std::string host, origin, fetch_site, fetch_mode;  // headers
  std::string cookie, authorization;
  std::string token;  // of the address
  bool is_post = false;
};

class Access {
 public:
  // An empty token: none is needed.
  Access(std::string address, std::string token) : address_(std::move(address)), token_(std::move(token)) {}

  std::optional<Refusal> refusal_of(const Credentials& credentials) const;
  // Whether the address has the right token: then the browser gets a cookie and an address without it.
  bool is_first_visit(const Credentials& credentials) const;
  std::string cookie(int port) const;

  const std::string& token() const { return token_; }

 private:
  bool is_own_host(std::string_view host) const;
  bool knows_token(const Credentials& credentials) const;

  std::string address_, token_;
};

bool is_loopback(std::string_view address);
// Equal texts, in a time that does not tell where they differ.
bool are_equal_secrets(std::string_view a, std::string_view b);
// 32 random hexadecimal digits.
std::string new_token();
// The one line of a file. A file that cannot be read, or a short token, is a user error.
std::string token_of_file(const std::string& path);

}  // namespace trireme::watch
