// Log lines for people, on standard error (standard output is for results). Thread-safe.
#pragma once

#include <fmt/core.h>

#include <string_view>

namespace trireme::base {

enum class LogLevel { debug, info, warn, error, off };

void set_log_level(LogLevel level);
void log_line(LogLevel level, std::string_view line);

template <class... A>
void log_warn(fmt::format_string<A...> text, A&&... a) {
  log_line(LogLevel::warn, fmt::format(text, std::forward<A>(a)...));
}

}  // namespace trireme::base
