// Error: the only exception type. A user error ends the program with exit code 2, a run error with 1; both print only
// their sentence. A broken invariant (internal) is a bug in Trireme, and its message says so.
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

// For a wrong option, file or shape. Text: what, where, what was expected, what to do.
template <class... A>
[[noreturn]] void user_error(fmt::format_string<A...> text, A&&... a) {
  throw_error(ErrorKind::user, fmt::format(text, std::forward<A>(a)...));
}

// For external failures during a run: a full disk, a loss that became NaN.
template <class... A>
[[noreturn]] void run_error(fmt::format_string<A...> text, A&&... a) {
  throw_error(ErrorKind::run, fmt::format(text, std::forward<A>(a)...));
}

// Checks an invariant, in all builds; print both sides in the text.
template <class... A>
void check(bool holds, fmt::format_string<A...> text, A&&... a) {
  if (!holds) [[unlikely]]
    throw_error(ErrorKind::internal, fmt::format(text, std::forward<A>(a)...));
}

}  // namespace trireme::base
