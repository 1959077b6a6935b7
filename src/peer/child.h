// Child: another program that answers lines on its standard output to lines on its standard input. Between two
// questions it sleeps on its pipe. Every wait has a deadline; the child is killed when the object goes, and by the
// kernel when this process dies. One caller at a time.
#pragma once

#include <sys/types.h>

#include <string>
#include <string_view>
#include <vector>

namespace trireme::peer {

class Child {
 public:
  // `what` names it in errors ("PyTorch"); arguments[0] is looked up in PATH. `cpus`: where it may run, whatever its
  // maker is pinned to; none: as its maker.
  Child(std::string what, std::vector<std::string> arguments, const std::vector<int>& cpus = {});
  ~Child();
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  // One line there, one line back, without their line ends. A child that dies, closes its output or lets the deadline
  // pass is a run error with the end of its standard error; it is killed then.
  std::string ask(std::string_view line, double deadline_seconds);

  // Closes its standard input and waits for its end: the exit code, 128 + signal when a signal ended it, -1 when it was
  // killed at the deadline. What it printed since the last ask() is in output().
  int finish(double deadline_seconds);
  const std::string& output() const { return buffer_; }
  // The last lines of its standard error, joined by " / "; empty when it was silent.
  std::string last_words() const;
  // All that are not blank.
  std::vector<std::string> error_lines() const;

 private:
  void send(std::string_view line);
  // Reads what is there into the buffer; false at the end of the output or at the deadline.
  bool read_more(std::int64_t deadline_ns);
  void end(int signal);
  [[noreturn]] void fail(const std::string& how);

  std::string what_;
  pid_t process_ = -1;
  int to_ = -1, from_ = -1, errors_ = -1;  // pipes; a file in memory that takes its standard error
  int status_ = 0;                         // of waitpid, once process_ is -1
  bool at_end_ = false;
  std::string buffer_;
};

}  // namespace trireme::peer
