// Launcher: the loop behind launch(). It sleeps until a signal, a line or a deadline comes. One thread.
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
    std::string name, host;                         // the host is empty for one that runs here
    std::unique_ptr<base::ChildProcess> process{};  // its standard input is the control pipe
    std::optional<ExitStatus> ending{};
    std::int64_t ended_ns = 0;
    bool was_told_to_end = false;  // by the launcher, which had lost its patience
  };
  // The last thing that was done to end those who do not end by themselves.
  enum class Force { none, asked, killed, given_up };

  void start();
  bool is_over() const;
  void wait();
  void take_signal(int signal);
  void read_output();
  void bury();
  void judge();
  // The cause is chosen among the failures that came at about the same time.
  void settle();
  // Others have failed because they lost the first process, which lives: it is killed if it does not answer.
  void look_after_first();
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
  // Who failed first, and how.
  std::string sentence() const;

  Job job_;
  std::int64_t started_ns_;
  std::vector<Member> members_;
  SignalPipe signals_;
  LogMerger log_merger_;
  std::unique_ptr<ExitNotifier> messenger_;

  std::int64_t first_signal_ns_ = 0;
  int last_signal_ = 0;  // the one that killed the job

  std::vector<int> failures_;  // ranks, in order
  std::int64_t settle_ns_ = 0, warn_ns_ = 0;
  int cause_ = -1;  // a rank, once it is settled
  std::string last_words_;
  bool could_not_start_ = false, has_warned_ = false;

  comm::JoinOptions rendezvous_;          // as the launcher reaches it
  std::unique_ptr<LivenessProbe> probe_;  // of the first process, where the others may have lost it
  bool first_is_frozen_ = false;          // it was killed for that
  double grace_seconds_ = 0;              // that the others had after the first process

  Force force_ = Force::none;
  std::int64_t more_force_ns_ = 0;  // when; 0: never
};

}  // namespace trireme::cluster
