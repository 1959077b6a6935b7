// ChildProcess: a program that this process starts, with pipes to its standard input, output and error. It leads a
// session of its own, so the terminal's Ctrl-C does not reach it. The kernel kills it when the thread that made it
// ends, thus when this process dies; the destructor kills it and what it started. Every wait has a deadline. One thread
// at a time.
#pragma once

#include <sys/types.h>

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/process/pipe.h"

namespace trireme::base {

enum class ChildOutput {
  pipe,     // to be read here; the child waits while the pipe is full
  memory,   // a file in memory, so that the child never waits; standard error only
  inherit,  // goes where ours goes
};

struct ChildCommand {
  std::vector<std::string> arguments{};    // arguments[0] is looked up in PATH if it has no '/'
  std::vector<std::string> environment{};  // "NAME=value"; empty: ours
  std::vector<int> cpus{};  // where it may run, whatever the calling thread is pinned to; none: as that thread
  ChildOutput output = ChildOutput::pipe, error = ChildOutput::pipe;
};

class ChildProcess {
 public:
  using TakeLine = std::function<void(std::string line, bool is_error)>;

  // A program that is not there ends with exit code kCannotStart and one sentence on its standard error.
  explicit ChildProcess(const ChildCommand& command);
  ~ChildProcess();
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;

  static constexpr int kCannotStart = 127;  // as shells say it

  pid_t id() const { return id_; }
  // As the last call that looked has found it.
  bool is_alive() const { return is_alive_; }
  // Looks; never waits. The first call that finds it ended closes its standard input.
  bool has_ended();
  // Of waitpid, once it has ended.
  int status() const { return status_; }
  // Its exit code, or 128 + the signal that ended it.
  int exit_code() const;
  // Whether a signal has stopped it, so that only SIGKILL ends it.
  bool is_stopped() const;

  // To it and its session's process group.
  void send_signal(int signal);
  // SIGKILL, and waits for its end; one that is stuck in the kernel is given up after a few seconds.
  void kill();
  // Waits for its end and collects its output meanwhile; false at the deadline. Others who hold its pipes are not
  // waited for.
  bool wait(std::int64_t deadline_ns);

  // To its standard input; collects its output meanwhile, so that neither waits for the other. False when it has closed
  // its input, or at the deadline; one write is always tried.
  bool write(std::string_view bytes, std::int64_t deadline_ns = 0);
  void close_input() { input_.close(); }

  // The next line of its standard output without its end; nothing when the output or the child has ended, or at the
  // deadline.
  std::optional<std::string> read_line(std::int64_t deadline_ns);
  // Its collected output that no line was made of.
  const std::string& output() const { return streams_[0].unread; }
  // Its standard error so far, where that goes to memory.
  std::string error_text() const;

  // For a loop that polls: the pipes of output and error that are open.
  std::vector<int> open_pipes() const;
  // The lines of both pipes that have come; never waits. Lines longer than 64 KiB are cut.
  void read_lines(const TakeLine& take);
  // After its end: what is left, also of an unfinished line. Others who hold the pipes are not waited for.
  void read_last_lines(const TakeLine& take);

 private:
  struct Stream {
    Descriptor pipe{};
    std::string unread{};
  };

  // Waits for anything to read, room to write where wanted, or the child's end; false at the deadline.
  bool wait_for_pipes(std::int64_t deadline_ns, bool wants_to_write);
  // Reads what has come, up to a limit, and closes a pipe at its end.
  static void collect(Stream& stream);
  void collect_all();

  pid_t id_ = -1;
  bool is_alive_ = false;
  int status_ = 0;
  Descriptor input_, error_memory_;
  std::array<Stream, 2> streams_;  // standard output and standard error
};

}  // namespace trireme::base
