#include "cluster/launcher/log_merger.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <limits>
#include <string_view>

#include "base/system/clock.h"

namespace trireme::cluster {
namespace {

constexpr double kHeldSeconds = 0.3;

// Writes the line with one write call, because rank 0 writes to the same descriptor.
void print_line(std::string_view name, std::string_view text) {
  const std::string line = fmt::format("[{}] {}\n", name, text);
  std::string_view rest = line;
  while (!rest.empty()) {
    const ssize_t count = ::write(STDERR_FILENO, rest.data(), rest.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return;
    rest.remove_prefix(static_cast<std::size_t>(count));
  }
}

}  // namespace

void LogMerger::add(int rank, std::string line, bool is_error) {
  if (is_error && line.find_first_not_of(" \t\r") != std::string::npos)
    last_words_[static_cast<std::size_t>(rank)] = line;
  if (only_ >= 0 && rank != only_) return;
  lines_.push_back({rank, is_error, std::move(line), base::in_seconds(kHeldSeconds)});
}

void LogMerger::print(std::int64_t now_ns) {
  for (; !lines_.empty() && lines_.front().due_ns <= now_ns; lines_.pop_front())
    print_line(names_[static_cast<std::size_t>(lines_.front().rank)], lines_.front().text);
}

void LogMerger::print_all() { print(std::numeric_limits<std::int64_t>::max()); }

void LogMerger::listen_only_to(int rank) {
  only_ = rank;
  std::erase_if(lines_, [&](const Line& line) { return line.rank != rank; });
}

std::string LogMerger::take_last_words(int rank) {
  std::string words = last_words_[static_cast<std::size_t>(rank)];
  for (auto line = lines_.rbegin(); line != lines_.rend(); ++line)
    if (line->rank == rank && line->is_error && line->text == words) {
      lines_.erase(std::next(line).base());
      break;
    }
  return words;
}

}  // namespace trireme::cluster
