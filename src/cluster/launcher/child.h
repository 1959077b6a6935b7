// Child: a process of a job that this process started, and the pipes to it: its leash (standard input), and its output
// unless it speaks for itself. It is a session of its own, so that the terminal's Ctrl-C does not reach it; the kernel
// kills it when this process dies.
#pragma once

#include <sys/types.h>

#include <array>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cluster/launcher/pipe.h"

namespace trireme::cluster {

struct ChildPlan {
  std::vector<std::string> command;      // command[0] is looked up in PATH if it has no '/'
  std::vector<std::string> environment;  // "NAME=value"
  bool speaks_itself = false;            // its output goes where ours goes
};

// The output of one pipe, cut into lines.
struct LineSource {
  comm::Socket pipe;
  bool is_error = false;
  std::string unread;  // the beginning of a line
};

using TakeLine = std::function<void(std::string line, bool is_error)>;

class Child {
 public:
  explicit Child(const ChildPlan& plan);
  ~Child();  // kills it if it has not ended
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  pid_t process() const { return process_; }
  bool is_alive() const { return is_alive_; }
  // The status of waitpid when it has ended since the last call. Never waits.
  std::optional<int> ended();

  // On its leash; one that is gone does not hear.
  void say(std::string_view line);
  void let_go();
  // To it and what it started.
  void send_signal(int signal);
  // Whether a signal has stopped it, so that only SIGKILL ends it.
  bool is_stopped() const;

  const std::array<LineSource, 2>& sources() const { return sources_; }
  // The lines that have come; never waits.
  void read_lines(const TakeLine& take);
  // What is left after its end, also of an unfinished line; others who hold the pipe are not waited for.
  void read_last_lines(const TakeLine& take);

 private:
  void read_from(LineSource& source, const TakeLine& take);

  pid_t process_ = -1;
  bool is_alive_ = false;
  comm::Socket leash_;
  std::array<LineSource, 2> sources_;  // standard output and standard error
};

}  // namespace trireme::cluster
