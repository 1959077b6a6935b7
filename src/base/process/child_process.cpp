#include "base/process/child_process.h"

#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <fstream>
#include <thread>

#include "base/cpu/cores.h"
#include "base/error.h"
#include "base/system/beside_program.h"
#include "base/system/clock.h"

namespace trireme::base {
namespace {

constexpr std::size_t kLongestLine = std::size_t{1} << 16;
constexpr std::size_t kReadBytes = std::size_t{1} << 16;
constexpr int kReadsAtOnce = 16;                   // reads per call, in case the child never stops writing
constexpr double kKilledSeconds = 5;               // a killed process may be stuck in the kernel
constexpr std::int64_t kLookMs = 50;               // interval of checks if other processes hold the child's pipes
constexpr std::chrono::milliseconds kEndPause{1};  // a process closes its pipes shortly before it has ended

std::vector<char*> pointers(const std::vector<std::string>& texts) {
  std::vector<char*> all;
  for (const std::string& text : texts) all.push_back(const_cast<char*>(text.c_str()));
  all.push_back(nullptr);
  return all;
}

struct Start {
  std::vector<char*> arguments, environment;  // environment empty: inherited
  const std::vector<int>& cpus;
  std::string complaint;
  std::array<int, 3> standard;  // descriptors; -1: inherited
  pid_t parent;
};

// Runs in the child. Only async-signal-safe calls: the parent has several threads.
[[noreturn]] void exec_child(const Start& start) {
  ::setsid();
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != start.parent) ::_exit(ChildProcess::kCannotStart);
  ::signal(SIGPIPE, SIG_DFL);
  if (!start.cpus.empty()) unpin_this_thread(start.cpus);
  for (int i = 0; i < 3; ++i)
    if (start.standard[static_cast<std::size_t>(i)] >= 0) ::dup2(start.standard[static_cast<std::size_t>(i)], i);
  if (start.environment.empty())
    ::execvp(start.arguments[0], start.arguments.data());
  else
    ::execvpe(start.arguments[0], start.arguments.data(), start.environment.data());
  const char* why = strerrordesc_np(errno);
  for (const std::string_view part :
       {std::string_view(start.complaint), std::string_view(why ? why : "an unknown error"), std::string_view("\n")})
    [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, part.data(), part.size());
  ::_exit(ChildProcess::kCannotStart);
}

Descriptor memory_file() {
  Descriptor file(::memfd_create("standard error", MFD_CLOEXEC));
  if (!file.is_open()) run_error("cannot make a file in memory: {}", std::strerror(errno));
  return above_standard(std::move(file));
}

// While it exists, writing to a pipe without a reader fails with an error in this thread, instead of SIGPIPE for the
// process.
class NoSigpipe {
 public:
  NoSigpipe() {
    sigemptyset(&sigpipe_);
    sigaddset(&sigpipe_, SIGPIPE);
    was_pending_ = is_pending();
    pthread_sigmask(SIG_BLOCK, &sigpipe_, &before_);
  }
  ~NoSigpipe() {
    const timespec at_once{};
    if (!was_pending_ && is_pending()) sigtimedwait(&sigpipe_, nullptr, &at_once);
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }
  NoSigpipe(const NoSigpipe&) = delete;
  NoSigpipe& operator=(const NoSigpipe&) = delete;

 private:
  static bool is_pending() {
    sigset_t pending;
    sigpending(&pending);
    return sigismember(&pending, SIGPIPE) == 1;
  }

  sigset_t sigpipe_{}, before_{};
  bool was_pending_ = false;
};

}  // namespace

ChildProcess::ChildProcess(const ChildCommand& command) {
  check(!command.arguments.empty(), "a child process without a program");
  check(command.output != ChildOutput::memory, "the standard output of '{}' in memory", command.arguments[0]);
  Pipe in = make_pipe();
  std::array<Pipe, 2> out;
  if (command.output == ChildOutput::pipe) out[0] = make_pipe();
  if (command.error == ChildOutput::pipe) out[1] = make_pipe();
  if (command.error == ChildOutput::memory) error_memory_ = memory_file();
  const int error = error_memory_.is_open() ? error_memory_.number() : out[1].write.number();
  const std::string& program = command.arguments[0];
  const Start start{pointers(command.arguments),
                    command.environment.empty() ? std::vector<char*>{} : pointers(command.environment),
                    command.cpus,
                    program_name() + ": cannot start '" + program + "': ",
                    {in.read.number(), out[0].write.number(), error},
                    ::getpid()};
  id_ = ::fork();
  if (id_ == 0) exec_child(start);
  if (id_ < 0) run_error("cannot start '{}': {}", program, std::strerror(errno));
  is_alive_ = true;
  input_ = std::move(in.write);
  set_non_blocking(input_);
  for (std::size_t i = 0; i < streams_.size(); ++i) {
    streams_[i].pipe = std::move(out[i].read);
    if (streams_[i].pipe.is_open()) set_non_blocking(streams_[i].pipe);
  }
}

ChildProcess::~ChildProcess() { kill(); }

bool ChildProcess::has_ended() {
  if (is_alive_ && ::waitpid(id_, &status_, WNOHANG) == id_) {
    is_alive_ = false;
    close_input();
  }
  return !is_alive_;
}

int ChildProcess::exit_code() const { return WIFSIGNALED(status_) ? 128 + WTERMSIG(status_) : WEXITSTATUS(status_); }

bool ChildProcess::is_stopped() const {
  std::ifstream file("/proc/" + std::to_string(id_) + "/stat");
  std::string line;
  std::getline(file, line);
  const std::size_t name_end = line.rfind(") ");  // the name may contain any character
  return is_alive_ && name_end != std::string::npos && (line[name_end + 2] == 'T' || line[name_end + 2] == 't');
}

void ChildProcess::send_signal(int signal) {
  if (!is_alive_) return;
  if (::kill(-id_, signal) != 0) ::kill(id_, signal);  // the child may not have its own group yet
}

void ChildProcess::kill() {
  if (has_ended()) return;
  send_signal(SIGKILL);
  const std::int64_t deadline = in_seconds(kKilledSeconds);
  while (!has_ended() && now_ns() < deadline) std::this_thread::sleep_for(kEndPause);
}

bool ChildProcess::wait_for_pipes(std::int64_t deadline_ns, bool wants_to_write) {
  const std::int64_t left_ns = deadline_ns - now_ns();
  if (left_ns <= 0) return false;
  std::vector<pollfd> polls;
  for (const int pipe : open_pipes()) polls.push_back({pipe, POLLIN, 0});
  if (wants_to_write) polls.push_back({input_.number(), POLLOUT, 0});
  if (polls.empty())
    std::this_thread::sleep_for(kEndPause);
  else
    ::poll(polls.data(), polls.size(), static_cast<int>(std::min(left_ns / 1'000'000 + 1, kLookMs)));
  return true;
}

bool ChildProcess::wait(std::int64_t deadline_ns) {
  for (;;) {
    const bool is_over = has_ended();  // checked before collecting, so that all output before its end is collected
    collect_all();
    if (is_over) return true;
    if (!wait_for_pipes(deadline_ns, false)) return false;
  }
}

bool ChildProcess::write(std::string_view bytes, std::int64_t deadline_ns) {
  const NoSigpipe no_sigpipe;
  while (input_.is_open()) {
    const ssize_t written = bytes.empty() ? 0 : ::write(input_.number(), bytes.data(), bytes.size());
    if (written >= 0)
      bytes.remove_prefix(static_cast<std::size_t>(written));
    else if (errno != EAGAIN && errno != EINTR)
      return false;
    if (bytes.empty()) return true;
    if (!wait_for_pipes(deadline_ns, true)) return false;
    collect_all();
  }
  return false;
}

std::optional<std::string> ChildProcess::read_line(std::int64_t deadline_ns) {
  Stream& output = streams_[0];
  for (std::size_t searched = 0;;) {
    const bool is_over = !output.pipe.is_open() || has_ended();
    collect_all();
    if (const std::size_t end = output.unread.find('\n', searched); end != std::string::npos) {
      std::string line = output.unread.substr(0, end);
      output.unread.erase(0, end + 1);
      return line;
    }
    searched = output.unread.size();
    if (is_over || !wait_for_pipes(deadline_ns, false)) return std::nullopt;
  }
}

std::string ChildProcess::error_text() const {
  const off_t size = ::lseek(error_memory_.number(), 0, SEEK_END);
  std::string text(static_cast<std::size_t>(std::max<off_t>(size, 0)), '\0');
  const ssize_t count = ::pread(error_memory_.number(), text.data(), text.size(), 0);
  text.resize(static_cast<std::size_t>(std::max<ssize_t>(count, 0)));
  return text;
}

std::vector<int> ChildProcess::open_pipes() const {
  std::vector<int> open;
  for (const Stream& stream : streams_)
    if (stream.pipe.is_open()) open.push_back(stream.pipe.number());
  return open;
}

void ChildProcess::collect(Stream& stream) {
  std::array<char, kReadBytes> bytes;
  for (int reads = 0; reads < kReadsAtOnce && stream.pipe.is_open(); ++reads) {
    const ssize_t count = ::read(stream.pipe.number(), bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0 && errno == EAGAIN) return;
    if (count <= 0) stream.pipe.close();
    stream.unread.append(bytes.data(), static_cast<std::size_t>(std::max<ssize_t>(count, 0)));
  }
}

void ChildProcess::collect_all() {
  for (Stream& stream : streams_) collect(stream);
}

void ChildProcess::read_lines(const TakeLine& take) {
  for (Stream& stream : streams_) {
    collect(stream);
    std::size_t begin = 0;
    for (;;) {
      const std::size_t end = std::min(stream.unread.find('\n', begin), stream.unread.size());
      const bool is_whole = end < stream.unread.size();
      const std::size_t length = std::min(end - begin, kLongestLine);
      if (!is_whole && length < kLongestLine) break;
      std::string line = stream.unread.substr(begin, length);
      begin += length + (begin + length == end && is_whole ? 1 : 0);
      if (line.ends_with('\r')) line.pop_back();
      take(std::move(line), &stream == &streams_[1]);
    }
    stream.unread.erase(0, begin);
  }
}

void ChildProcess::read_last_lines(const TakeLine& take) {
  read_lines(take);
  for (Stream& stream : streams_) {
    stream.pipe.close();
    if (!stream.unread.empty()) take(std::exchange(stream.unread, {}), &stream == &streams_[1]);
  }
}

}  // namespace trireme::base
