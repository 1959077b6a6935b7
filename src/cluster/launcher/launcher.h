// Launcher: the event loop behind launch(); sleeps until a signal, output of a process or a deadline.
// One thread.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/process/child_process.h"
#include "cluster/launcher/exit_notifier.h"
#include "cluster/launcher/exit_status.h"
#include "cluster/launcher/launch.h"
#include "cluster/launcher/liveness_probe.h"
#include "cluster/launcher/log_merger.h"
#include "cluster/launcher/signals.h"

namespace trireme::cluster {

class Launcher {
 public:
  explicit Launcher(const Job& job);
  int run();

 private:
  struct Member {
    std::string name, host;                         // the host is empty for a process of this machine
    std::unique_ptr<base::ChildProcess> process{};  // its standard input is the control pipe
    std::optional<ExitStatus> ending{};
    std::int64_t ended_ns = 0;
    bool was_told_to_end = false;  // the launcher ended it after a timeout or a second signal
  };
  // How hard the launcher has tried to end the processes: asked is SIGTERM, killed is SIGKILL.
  enum class Force { none, asked, killed, given_up };

  void start();
  bool is_over() const;
  void wait();
  void take_signal(int signal);
  void read_output();
  // Takes the exit status and the remaining output of processes that have exited; notes failures.
  void collect_exited();
  void act_on_failures();
  // Chooses the likely cause among the failures of the first kCollectSeconds.
  void choose_cause();
  // Other ranks failed because they lost rank 0, which is alive: kills it if it did not answer the probe.
  void take_probe_result();
  void kill_first();
  void end_by(std::int64_t when_ns);
  void use_more_force();
  int conclude();
  int exit_code() const;

  bool has_failed() const { return !failures_.empty(); }
  Member& member(int rank) { return members_[static_cast<std::size_t>(rank)]; }
  const Member& member(int rank) const { return members_[static_cast<std::size_t>(rank)]; }
  const Member& first() const { return members_.front(); }
  std::string describe(int rank) const;
  // One sentence: who failed first, and how.
  std::string describe_failure() const;

  Job job_;
  std::int64_t started_ns_;
  std::vector<Member> members_;
  SignalPipe signals_;
  LogMerger log_merger_;
  std::unique_ptr<ExitNotifier> exit_notifier_;

  std::int64_t first_signal_ns_ = 0;
  int last_signal_ = 0;  // the second signal, which killed the job

  std::vector<int> failures_;                       // ranks, in order of exit
  std::int64_t choose_cause_ns_ = 0, warn_ns_ = 0;  // deadlines
  int cause_ = -1;                                  // the rank that failed first; -1: not chosen yet
  std::string last_words_;
  bool could_not_start_ = false, has_warned_ = false;

  comm::JoinOptions rendezvous_;          // as the launcher reaches it
  std::unique_ptr<LivenessProbe> probe_;  // of rank 0, while other ranks may have lost it
  bool first_is_frozen_ = false;          // rank 0 did not answer the probe and was killed
  double grace_seconds_ = 0;              // how long the other ranks had to exit after rank 0

  Force force_ = Force::none;
  std::int64_t more_force_ns_ = 0;  // when to use the next force; 0: never
};

}  // namespace trireme::cluster
