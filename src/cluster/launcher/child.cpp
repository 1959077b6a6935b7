#include "cluster/launcher/child.h"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <fstream>
#include <thread>

#include "base/error.h"
#include "base/system/clock.h"

namespace trireme::cluster {
namespace {

constexpr int kCannotStart = 127;                           // as shells say it
constexpr std::size_t kLongestLine = std::size_t{1} << 16;  // longer ones are cut
constexpr int kReadsAtOnce = 64;                            // of one that never stops talking
constexpr double kBuriedSeconds = 5;                        // a killed process may be stuck in the kernel

std::vector<char*> pointers(const std::vector<std::string>& texts) {
  std::vector<char*> all;
  for (const std::string& text : texts) all.push_back(const_cast<char*>(text.c_str()));
  all.push_back(nullptr);
  return all;
}

// In the new process: only calls that are safe after a fork of a process with threads.
[[noreturn]] void become(const std::vector<char*>& argv, const std::vector<char*>& variables,
                         std::string_view complaint, const std::array<int, 3>& standard, pid_t parent) {
  ::setsid();
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(kCannotStart);
  ::signal(SIGPIPE, SIG_DFL);
  for (int i = 0; i < 3; ++i)
    if (standard[static_cast<std::size_t>(i)] >= 0) ::dup2(standard[static_cast<std::size_t>(i)], i);
  ::execvpe(argv[0], argv.data(), variables.data());
  const char* why = strerrordesc_np(errno);
  for (const std::string_view part :
       {complaint, std::string_view(why ? why : "an unknown error"), std::string_view("\n")})
    [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, part.data(), part.size());
  ::_exit(kCannotStart);
}

}  // namespace

Child::Child(const ChildPlan& plan) {
  Pipe in = make_pipe(), out, errors;
  if (!plan.speaks_itself) {
    out = make_pipe();
    errors = make_pipe();
  }
  const std::vector<char*> argv = pointers(plan.command), variables = pointers(plan.environment);
  const std::string complaint = "trireme: cannot start '" + plan.command.at(0) + "': ";
  const pid_t parent = ::getpid();
  process_ = ::fork();
  if (process_ == 0)
    become(argv, variables, complaint, {in.read.descriptor(), out.write.descriptor(), errors.write.descriptor()},
           parent);
  if (process_ < 0) base::run_error("cannot start '{}': {}", plan.command[0], std::strerror(errno));
  is_alive_ = true;
  leash_ = std::move(in.write);
  set_non_blocking(leash_);
  sources_[0].pipe = std::move(out.read);
  sources_[1].pipe = std::move(errors.read);
  sources_[1].is_error = true;
  for (const LineSource& source : sources_)
    if (source.pipe.is_open()) set_non_blocking(source.pipe);
}

Child::~Child() {
  if (!is_alive_) return;
  send_signal(SIGKILL);
  const std::int64_t deadline = base::in_seconds(kBuriedSeconds);
  while (!ended() && base::now_ns() < deadline) std::this_thread::sleep_for(std::chrono::milliseconds(2));
}

std::optional<int> Child::ended() {
  int status = 0;
  if (!is_alive_ || ::waitpid(process_, &status, WNOHANG) != process_) return std::nullopt;
  is_alive_ = false;
  let_go();
  return status;
}

void Child::say(std::string_view line) {
  const std::string whole = std::string(line) + "\n";  // far less than a pipe holds
  if (leash_.is_open()) [[maybe_unused]]
    const ssize_t written = ::write(leash_.descriptor(), whole.data(), whole.size());
}

void Child::let_go() { leash_ = comm::Socket(); }

void Child::send_signal(int signal) {
  if (!is_alive_) return;
  if (::kill(-process_, signal) != 0) ::kill(process_, signal);  // it may have no group yet
}

bool Child::is_stopped() const {
  std::ifstream file("/proc/" + std::to_string(process_) + "/stat");
  std::string line;
  std::getline(file, line);
  const std::size_t name_end = line.rfind(") ");  // the name may hold anything
  return is_alive_ && name_end != std::string::npos && (line[name_end + 2] == 'T' || line[name_end + 2] == 't');
}

void Child::read_from(LineSource& source, const TakeLine& take) {
  std::array<char, 4096> bytes;
  for (int reads = 0; reads < kReadsAtOnce && source.pipe.is_open(); ++reads) {
    const ssize_t count = ::read(source.pipe.descriptor(), bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0 && errno == EAGAIN) return;
    if (count <= 0) source.pipe = comm::Socket();
    for (ssize_t i = 0; i < count; ++i) {
      const char next = bytes[static_cast<std::size_t>(i)];
      if (next != '\n') source.unread += next;
      if (next != '\n' && source.unread.size() < kLongestLine) continue;
      if (source.unread.ends_with('\r')) source.unread.pop_back();
      take(std::exchange(source.unread, {}), source.is_error);
    }
  }
}

void Child::read_lines(const TakeLine& take) {
  for (LineSource& source : sources_) read_from(source, take);
}

void Child::read_last_lines(const TakeLine& take) {
  for (LineSource& source : sources_) {
    read_from(source, take);
    source.pipe = comm::Socket();
    if (!source.unread.empty()) take(std::exchange(source.unread, {}), source.is_error);
  }
}

}  // namespace trireme::cluster
