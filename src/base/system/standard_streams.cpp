#include "base/system/standard_streams.h"

#include <fcntl.h>
#include <stdio_ext.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <string>

#include "base/error.h"
#include "base/system/beside_program.h"

namespace trireme::base {
namespace {

void write_to_stderr(std::string_view start, std::string_view sentence) {
  const std::string line = fmt::format("{}: {}\n", start, sentence);
  std::fwrite(line.data(), 1, line.size(), stderr);
  std::fflush(stderr);
}

}  // namespace

// open() returns the lowest free number. The direction is the wrong one, so that using the descriptor fails as before.
void keep_standard_descriptors() {
  for (const int number : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    if (::fcntl(number, F_GETFD) < 0 && errno == EBADF) ::open("/dev/null", number == 0 ? O_WRONLY : O_RDONLY);
}

void outlive_terminal() {
  std::signal(SIGHUP, SIG_IGN);
  std::signal(SIGPIPE, SIG_IGN);
}

void print_error(std::string_view sentence) { write_to_stderr(program_name(), in_own_words(std::string(sentence))); }

void print_note(std::string_view sentence) { write_to_stderr("note", sentence); }

void print_text(std::FILE* stream, std::string_view text) {
  const bool has_written = std::fwrite(text.data(), 1, text.size(), stream) == text.size();
  if (has_written && std::fflush(stream) == 0) return;
  const int cause = errno;
  __fpurge(stream);
  std::clearerr(stream);
  run_error("cannot write standard {}: {}", stream == stderr ? "error" : "output", std::strerror(cause));
}

}  // namespace trireme::base
