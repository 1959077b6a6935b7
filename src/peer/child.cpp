#include "peer/child.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "base/cpu/cores.h"
#include "base/error.h"
#include "base/system/clock.h"
#include "base/text/text.h"

namespace trireme::peer {
namespace {

constexpr std::size_t kLastLines = 3;
constexpr int kCannotStart = 127;

std::int64_t deadline_in(double seconds) { return base::now_ns() + static_cast<std::int64_t>(seconds * 1e9); }

void close_if_open(int& descriptor) {
  if (descriptor >= 0) ::close(descriptor);
  descriptor = -1;
}

}  // namespace

Child::Child(std::string what, std::vector<std::string> arguments, const std::vector<int>& cpus)
    : what_(std::move(what)) {
  std::array<int, 2> in{-1, -1}, out{-1, -1};
  errors_ = ::memfd_create("errors", MFD_CLOEXEC);
  if (errors_ < 0 || ::pipe2(in.data(), O_CLOEXEC) != 0 || ::pipe2(out.data(), O_CLOEXEC) != 0)
    base::run_error("cannot make a pipe to {}: {}", what_, std::strerror(errno));
  to_ = in[1];
  from_ = out[0];
  std::vector<char*> argv;
  for (std::string& argument : arguments) argv.push_back(argument.data());
  argv.push_back(nullptr);
  const pid_t parent = ::getpid();
  process_ = ::fork();
  if (process_ == 0) {  // only calls that are safe after a fork of a process with threads
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != parent) ::_exit(kCannotStart);
    if (!cpus.empty()) base::unpin_this_thread(cpus);
    ::dup2(in[0], STDIN_FILENO);
    ::dup2(out[1], STDOUT_FILENO);
    ::dup2(errors_, STDERR_FILENO);
    ::execvp(argv[0], argv.data());
    ::_exit(kCannotStart);
  }
  const int cause = errno;
  ::close(in[0]);
  ::close(out[1]);
  if (process_ < 0) base::run_error("cannot start {}: {}", what_, std::strerror(cause));
}

Child::~Child() {
  end(SIGKILL);
  close_if_open(to_);
  close_if_open(from_);
  close_if_open(errors_);
}

std::string Child::ask(std::string_view line, double deadline_seconds) {
  const std::int64_t deadline = deadline_in(deadline_seconds);
  send(std::string(line) + "\n");
  for (;;) {
    if (const std::size_t end_of_line = buffer_.find('\n'); end_of_line != std::string::npos) {
      std::string answer = buffer_.substr(0, end_of_line);
      buffer_.erase(0, end_of_line + 1);
      return answer;
    }
    if (read_more(deadline)) continue;
    if (!at_end_) fail(fmt::format("did not answer within {:.0f} seconds", deadline_seconds));
    fail("ended before it answered");
  }
}

void Child::send(std::string_view line) {
  // A child that is gone makes write() fail with EPIPE instead of ending this process.
  struct sigaction ignore {
  }, before{};
  ignore.sa_handler = SIG_IGN;
  ::sigaction(SIGPIPE, &ignore, &before);
  bool sent = to_ >= 0;
  while (sent && !line.empty()) {
    const ssize_t written = ::write(to_, line.data(), line.size());
    if (written >= 0)
      line.remove_prefix(static_cast<std::size_t>(written));
    else
      sent = errno == EINTR;
  }
  ::sigaction(SIGPIPE, &before, nullptr);
  if (!sent) fail("ended before it was asked");
}

bool Child::read_more(std::int64_t deadline_ns) {
  std::array<char, 4096> chunk;
  for (;;) {
    const std::int64_t left = deadline_ns - base::now_ns();
    if (left <= 0) return false;
    pollfd wait{from_, POLLIN, 0};
    const int ready = ::poll(&wait, 1, static_cast<int>(std::min<std::int64_t>(left / 1'000'000 + 1, 1'000'000)));
    if (ready == 0 || (ready < 0 && errno == EINTR)) continue;
    const ssize_t count = ::read(from_, chunk.data(), chunk.size());
    if (count < 0 && errno == EINTR) continue;
    at_end_ = count <= 0;
    if (at_end_) return false;
    buffer_.append(chunk.data(), static_cast<std::size_t>(count));
    return true;
  }
}

int Child::finish(double deadline_seconds) {
  close_if_open(to_);
  const std::int64_t deadline = deadline_in(deadline_seconds);
  while (read_more(deadline)) continue;
  if (!at_end_) {
    end(SIGKILL);
    return -1;
  }
  end(0);
  return WIFEXITED(status_) ? WEXITSTATUS(status_) : 128 + WTERMSIG(status_);
}

void Child::end(int signal) {
  if (process_ <= 0) return;
  if (signal != 0) ::kill(process_, signal);
  while (::waitpid(process_, &status_, 0) < 0 && errno == EINTR) continue;
  process_ = -1;
}

void Child::fail(const std::string& how) {
  end(SIGKILL);
  const bool never_ran = WIFEXITED(status_) && WEXITSTATUS(status_) == kCannotStart;
  const std::string words = last_words();
  base::run_error("{} {}{}", what_, never_ran ? "could not be started" : how,
                  words.empty() ? "" : "; it said: " + words);
}

std::vector<std::string> Child::error_lines() const {
  const off_t size = ::lseek(errors_, 0, SEEK_END);
  std::string text(static_cast<std::size_t>(std::max<off_t>(size, 0)), '\0');
  const ssize_t count = ::pread(errors_, text.data(), text.size(), 0);
  text.resize(static_cast<std::size_t>(std::max<ssize_t>(count, 0)));
  std::vector<std::string> lines;
  for (const std::string& line : base::split(text, '\n'))
    if (line.find_first_not_of(" \t\r") != std::string::npos) lines.push_back(line);
  return lines;
}

std::string Child::last_words() const {
  std::vector<std::string> lines = error_lines();
  if (lines.size() > kLastLines) lines.erase(lines.begin(), lines.end() - kLastLines);
  return base::join(lines, " / ");
}

}  // namespace trireme::peer
