#include "watch/formats/event_files.h"

#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <string_view>

#include "base/error.h"
#include "base/system/clock.h"
#include "observe/resources.h"

namespace trireme::watch {
namespace {

namespace fs = base::fs;

constexpr std::string_view kNameStart = "events.out.tfevents.";
constexpr double kFlushSeconds = 1;
constexpr std::size_t kFlushBytes = std::size_t{1} << 20;

// Seconds since 1970, but later than those in the names of all files that are there, whatever the clock was then.
std::int64_t seconds_for_name(const fs::path& folder) {
  auto latest = static_cast<std::int64_t>(base::unix_seconds());
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(folder, ignored)) {
    const std::string name = entry.path().filename();
    if (!name.starts_with(kNameStart)) continue;
    std::int64_t seconds = 0;
    const char* begin = name.data() + kNameStart.size();
    if (std::from_chars(begin, name.data() + name.size(), seconds).ec == std::errc())
      latest = std::max(latest, seconds + 1);
  }
  return latest;
}

fs::path new_file(const fs::path& folder) {
  std::error_code cause;
  fs::create_directories(folder, cause);
  if (cause) base::run_error("cannot make the folder {}: {}", folder.string(), cause.message());
  return folder / fmt::format("{}{:010}.{}.{}", kNameStart, seconds_for_name(folder), observe::host_name(), ::getpid());
}

}  // namespace

EventFiles::EventFiles(const fs::path& folder) : file_(new_file(folder)), flushed_ns_(base::now_ns()) {
  add(version_event(base::unix_seconds()));
  flush();
}

void EventFiles::add(std::int64_t step, const std::vector<ProtoMessage>& values) {
  if (!values.empty()) add(summary_event({base::unix_seconds(), step}, values));
}

void EventFiles::start_at(std::int64_t step) { add(start_event({base::unix_seconds(), step})); }

void EventFiles::add(const ProtoMessage& event) {
  file_.add(event.bytes());
  if (file_.waiting_bytes() > kFlushBytes || base::seconds_since(flushed_ns_) >= kFlushSeconds) flush();
}

void EventFiles::flush() {
  file_.flush();
  flushed_ns_ = base::now_ns();
}

}  // namespace trireme::watch
