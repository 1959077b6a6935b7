// The one exception type. A user's mistake ends the program with exit code 2, a failure while running with 1; both
// print their sentence and nothing else. A broken invariant is a bug in Trireme and says so.
#pragma once

#include <fmt/core.h>

#include <stdexcept>
#include <string>

namespace trireme::base {

enum class ErrorKind { user, run, internal };

class Error : public std::runtime_error {
 public:
  Error(ErrorKind kind, const std::string& sentence) : std::runtime_error(sentence), kind_(kind) {}
  ErrorKind kind() const { return kind_; }
  int exit_code() const { return kind_ == ErrorKind::user ? 2 : 1; }

 private:
  ErrorKind kind_;
};

[[noreturn]] void throw_error(ErrorKind kind, std::string sentence);

// A wrong option, file or shape: what, where, what was expected, what to do.
template <class... A>
[[noreturn]] void user_error(fmt::format_string<A...> text, A&&... a) {
  throw_error(ErrorKind::user, fmt::format(text, std::forward<A>(a)...));
}

// Something outside failed while running: a full disk, a loss that became NaN.
template <class... A>
[[noreturn]] void run_error(fmt::format_string<A...> text, A&&... a) {
  throw_error(ErrorKind::run, fmt::format(text, std::forward<A>(a)...));
}

// An always-on check of an invariant; print both sides in the text.
template <class... A>
void check(bool holds, fmt::format_string<A...> text, A&&... a) {
  if (!holds) [[unlikely]]
    throw_error(ErrorKind::internal, fmt::format(text, std::forward<A>(a)...));
}

}  // namespace trireme::base
