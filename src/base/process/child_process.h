// ChildProcess: a program that this process starts, with pipes to its standard input, output and error.
// One thread at a time.
//
// The child leads its own session, so the terminal's Ctrl-C does not reach it. The kernel kills it when the thread that
// created it ends, hence also when this process dies. The destructor kills it and its process group. Every wait has a
// deadline.
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
  pipe,     // read here; the child blocks while the pipe is full
  memory,   // a file in memory, so the child never blocks; standard error only
  inherit,  // the same as this process's
};

struct ChildCommand {
  std::vector<std::string> arguments{};    // arguments[0] is looked up in PATH if it has no '/'
  std::vector<std::string> environment{};  // "NAME=value"; empty: inherited
  std::vector<int> cpus{};                 // the child's affinity; empty: that of the calling thread
  ChildOutput output = ChildOutput::pipe, error = ChildOutput::pipe;
};

class ChildProcess {
 public:
  using TakeLine = std::function<void(std::string line, bool is_error)>;

  // If the program cannot be started, the child ends with exit code kCannotStart and one sentence on its standard
  // error.
  explicit ChildProcess(const ChildCommand& command);
  ~ChildProcess();
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;

  static constexpr int kCannotStart = 127;  // the shells' convention

  pid_t id() const { return id_; }
  // As of the last call that checked.
  bool is_alive() const { return is_alive_; }
  // Checks without waiting. The first call that finds the child ended closes its standard input.
  bool has_ended();
  // The status of waitpid, after it has ended.
  int status() const { return status_; }
  // Its exit code, or 128 + the signal that ended it.
  int exit_code() const;
  // True if a signal has stopped it; then only SIGKILL ends it.
  bool is_stopped() const;

  // Sends the signal to the child's process group.
  void send_signal(int signal);
  // Sends SIGKILL and waits for the end; gives up after a few seconds on a child that is stuck in the kernel.
  void kill();
  // Waits for its end while collecting its output; false at the deadline. Does not wait for other processes that hold
  // its pipes.
  bool wait(std::int64_t deadline_ns);

  // Writes to its standard input while collecting its output, so that neither side blocks the other. False if the child
  // has closed its input, or at the deadline; tries at least one write.
  bool write(std::string_view bytes, std::int64_t deadline_ns = 0);
  void close_input() { input_.close(); }

  // The next line of its standard output, without line end; no value when the output or the child has ended, or at the
  // deadline.
  std::optional<std::string> read_line(std::int64_t deadline_ns);
  // Output that was collected but not returned as lines.
  const std::string& output() const { return streams_[0].unread; }
  // Its standard error so far, if that goes to memory.
  std::string error_text() const;

  // For a poll loop: the open pipes of output and error.
  std::vector<int> open_pipes() const;
  // Passes on all lines that have arrived in both pipes; never waits. Cuts lines longer than 64 KiB.
  void read_lines(const TakeLine& take);
  // After its end: passes on the rest, including an unfinished line. Does not wait for other processes that hold the
  // pipes.
  void read_last_lines(const TakeLine& take);

 private:
  struct Stream {
    Descriptor pipe{};
    std::string unread{};
  };

  // Waits until there is something to read, room to write (if wanted), or the child has ended; false at the deadline.
  bool wait_for_pipes(std::int64_t deadline_ns, bool wants_to_write);
  // Reads the available bytes, up to a limit, and closes a pipe at its end.
  static void collect(Stream& stream);
  void collect_all();

  pid_t id_ = -1;
  bool is_alive_ = false;
  int status_ = 0;
  Descriptor input_, error_memory_;
  std::array<Stream, 2> streams_;  // standard output and standard error
};

}  // namespace trireme::base
