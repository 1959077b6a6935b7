#include "base/system/log.h"

#include <spdlog/sinks/stdout_color_sinks.h>
#include <spdlog/spdlog.h>

#include "base/system/terminal.h"

namespace trireme::base {
namespace {

spdlog::level::level_enum to_spdlog(LogLevel level) {
  switch (level) {
    case LogLevel::debug: return spdlog::level::debug;
    case LogLevel::info: return spdlog::level::info;
    case LogLevel::warn: return spdlog::level::warn;
    case LogLevel::error: return spdlog::level::err;
    case LogLevel::off: return spdlog::level::off;
  }
  return spdlog::level::info;
}

spdlog::logger& logger() {
  static spdlog::logger instance = [] {
    const auto sink = std::make_shared<spdlog::sinks::stderr_color_sink_mt>();
    if (!may_colour(stderr)) sink->set_color_mode(spdlog::color_mode::never);
    spdlog::logger made("trireme", sink);
    made.set_pattern("%^%l%$: %v");
    return made;
  }();
  return instance;
}

}  // namespace

void set_log_level(LogLevel level) { logger().set_level(to_spdlog(level)); }

void log_line(LogLevel level, std::string_view line) { logger().log(to_spdlog(level), line); }

}  // namespace trireme::base
