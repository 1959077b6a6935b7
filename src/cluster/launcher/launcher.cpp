#include "cluster/launcher/launcher.h"

#include <fmt/format.h>
#include <poll.h>
#include <signal.h>

#include <algorithm>
#include <cstdio>

#include "base/system/beside_program.h"
#include "base/system/clock.h"
#include "base/system/log.h"
#include "base/system/standard_streams.h"

namespace trireme::cluster {
namespace {

constexpr double kCollectSeconds = 0.25;   // a failure on another host arrives later than its consequences on this one
constexpr double kWarnSeconds = 2;         // a job that survives a failure this long may run for hours: warn now
constexpr double kStartGraceSeconds = 2;   // for the other processes to exit when one could not start
constexpr double kFailedGraceSeconds = 2;  // the same after a failure of rank 0, without which no rank can go on
constexpr double kTermGraceSeconds = 2;    // between SIGTERM and SIGKILL
constexpr double kStuckSeconds = 5;        // after SIGKILL; a process may still be stuck in the kernel
constexpr double kBurstSeconds = 0.3;      // signals this close count as one: timeout and shells send them twice
constexpr double kLongestSleepSeconds = 1;
constexpr int kSshFailed = 255;

// Signals that somebody sends, as opposed to a crash: the last output of the process does not explain them.
bool is_from_outside(int signal) {
  return signal == SIGKILL || signal == SIGTERM || signal == SIGINT || signal == SIGHUP;
}

}  // namespace

int Launcher::run() {
  start();
  while (!is_over()) {
    wait();
    for (const int signal : signals_.take()) take_signal(signal);
    read_output();
    collect_exited();
    act_on_failures();
  }
  return conclude();
}

bool Launcher::is_over() const {
  return force_ == Force::given_up ||
         std::none_of(members_.begin(), members_.end(), [](const Member& one) { return one.process->is_alive(); });
}

void Launcher::wait() {
  std::int64_t until = base::in_seconds(kLongestSleepSeconds);
  const bool is_collecting = has_failed() && cause_ < 0;
  for (const std::int64_t moment : {is_collecting ? choose_cause_ns_ : log_merger_.next_ns(), warn_ns_, more_force_ns_})
    if (moment != 0) until = std::min(until, moment);
  std::vector<pollfd> polls{{signals_.descriptor(), POLLIN, 0}};
  for (const Member& one : members_)
    for (const int pipe : one.process->open_pipes()) polls.push_back({pipe, POLLIN, 0});
  const std::int64_t left_ns = std::max<std::int64_t>(until - base::now_ns(), 0);
  ::poll(polls.data(), polls.size(), static_cast<int>(left_ns / 1'000'000 + 1));
}

void Launcher::take_signal(int signal) {
  if (signal == SIGCHLD) return;
  if (signal == SIGHUP) {  // the terminal is closed: the job goes on without it
    if (first().process->is_alive()) members_.front().process->write("hangup\n");
    return;
  }
  if (first_signal_ns_ == 0) {
    first_signal_ns_ = base::now_ns();
    if (first().process->is_alive())
      members_.front().process->write("interrupt\n");
    else
      end_by(base::now_ns());
  } else if (base::seconds_since(first_signal_ns_) > kBurstSeconds && last_signal_ == 0) {
    last_signal_ = signal;
    force_ = Force::asked;
    use_more_force();
  }
}

void Launcher::read_output() {
  for (int rank = 0; rank < job_.world; ++rank)
    member(rank).process->read_lines(
        [&](std::string line, bool is_error) { log_merger_.add(rank, std::move(line), is_error); });
}

void Launcher::collect_exited() {
  std::vector<int> failed;
  for (int rank = 0; rank < job_.world; ++rank) {
    Member& one = member(rank);
    if (one.ending || !one.process->has_ended()) continue;
    one.process->read_last_lines(
        [&](std::string line, bool is_error) { log_merger_.add(rank, std::move(line), is_error); });
    one.ending = ending_of(one.process->status(), !one.host.empty());
    one.ended_ns = base::now_ns();
    if (rank == 0) {
      const auto is_stopped = [](const Member& other) { return other.process->is_stopped(); };
      grace_seconds_ = job_.ending_seconds;
      if (one.ending->is_failure() || std::ranges::any_of(members_, is_stopped))
        grace_seconds_ = std::min(grace_seconds_, kFailedGraceSeconds);
      end_by(base::in_seconds(grace_seconds_));
    }
    if (one.ending->is_failure() && !one.was_told_to_end) failed.push_back(rank);
  }
  bool is_first_suspected = false;
  for (const int rank : failed) {
    if (failures_.empty()) choose_cause_ns_ = base::in_seconds(kCollectSeconds);
    failures_.push_back(rank);
    is_first_suspected |= log_merger_.last_words(rank).find(comm::kHoldsGroup) != std::string::npos;
    const Member& one = member(rank);
    // A process that failed to start has printed why, and its failure ends the whole job: no need to report it.
    const bool is_news = one.host.empty() && !one.ending->is_of_a_start();
    if (is_news && first().process->is_alive()) exit_notifier_->tell(one.process->id(), to_text(*one.ending));
  }
  is_first_suspected |= !failed.empty() && first().process->is_stopped();
  if (is_first_suspected && first().process->is_alive() && !probe_)
    probe_ = std::make_unique<LivenessProbe>(rendezvous_);
}

void Launcher::act_on_failures() {
  const std::int64_t now = base::now_ns();
  if (has_failed() && cause_ < 0 && now >= choose_cause_ns_) choose_cause();
  if (probe_ && probe_->is_done() && cause_ >= 0) take_probe_result();
  if (!has_failed() || cause_ >= 0) log_merger_.print(now);
  if (warn_ns_ != 0 && now >= warn_ns_) {
    warn_ns_ = 0;
    has_warned_ = first().process->is_alive();
    if (has_warned_) base::log_warn("{}", describe_failure());
  }
  if (more_force_ns_ != 0 && now >= more_force_ns_) use_more_force();
}

void Launcher::choose_cause() {
  // The process that failed first may exit later than peers that report its loss ("... has left the group"), so order
  // of exit does not decide. A peer's report makes it the least likely cause. The output of rank 0 does not pass
  // through the launcher: its last line is unknown (empty), which lies in between.
  const auto innocence = [&](int rank) {
    const std::string& last_line = log_merger_.last_words(rank);
    const int blames = last_line.empty() ? 1 : last_line.find("has left the group") != std::string::npos ? 2 : 0;
    return std::pair(member(rank).ending->suspicion(), blames);
  };
  cause_ = *std::ranges::min_element(failures_, {}, innocence);
  const Member& cause = member(cause_);
  log_merger_.listen_only_to(cause_);
  last_words_ = log_merger_.take_last_words(cause_);
  if (const std::string name = base::program_name() + ": "; last_words_.starts_with(name))
    last_words_.erase(0, name.size());
  could_not_start_ =
      cause.ending->is_of_a_start() && 1e-9 * static_cast<double>(cause.ended_ns - started_ns_) <= job_.start_seconds;
  if (could_not_start_)
    end_by(base::in_seconds(kStartGraceSeconds));
  else if (!probe_)
    warn_ns_ = base::in_seconds(kWarnSeconds);
}

void Launcher::take_probe_result() {
  const bool is_frozen = first().process->is_alive() && !probe_->has_answered();
  probe_.reset();
  if (is_frozen)
    kill_first();
  else if (!has_warned_ && !could_not_start_)
    warn_ns_ = base::in_seconds(kWarnSeconds);
}

void Launcher::kill_first() {
  first_is_frozen_ = true;
  cause_ = 0;
  warn_ns_ = 0;
  could_not_start_ = false;
  members_.front().process->send_signal(SIGKILL);
  end_by(base::in_seconds(kTermGraceSeconds));
}

void Launcher::end_by(std::int64_t when_ns) {
  if (force_ == Force::none && (more_force_ns_ == 0 || when_ns < more_force_ns_)) more_force_ns_ = when_ns;
}

// A signal reaches only the ssh process of a remote rank. The rank itself exits when its control pipe closes, at the
// latest with the ssh connection.
void Launcher::use_more_force() {
  force_ = static_cast<Force>(static_cast<int>(force_) + 1);
  if (force_ == Force::given_up) return;
  const bool asks = force_ == Force::asked;
  more_force_ns_ = base::in_seconds(asks ? kTermGraceSeconds : kStuckSeconds);
  for (Member& one : members_) {
    if (!one.process->is_alive()) continue;
    one.was_told_to_end = true;
    one.process->close_input();
    one.process->send_signal(asks && !one.process->is_stopped() ? SIGTERM : SIGKILL);
  }
}

int Launcher::conclude() {
  exit_notifier_.reset();
  probe_.reset();
  if (has_failed() && cause_ < 0) choose_cause();
  log_merger_.print_all();
  const int code = exit_code();
  if (last_signal_ != 0) return code;
  if (cause_ >= 0) {
    // Rank 0 prints its own error, unless it was killed, is frozen or could not be reached.
    const bool is_lost = !first().host.empty() && first().ending && first().ending->code == kSshFailed;
    const bool has_spoken = cause_ == 0 && !first_is_frozen_ && first().ending->signal == 0 && !is_lost;
    // A mistake that all processes make (a wrong option) is printed by rank 0 already.
    const bool has_said_the_same =
        could_not_start_ && !is_lost && first().ending && first().ending->code == member(cause_).ending->code;
    if (code == 0 && !has_warned_) base::log_warn("{}", describe_failure());
    if (code != 0 && !has_spoken && !has_said_the_same) base::print_error(describe_failure());
  }
  // A crash is reported even when another failure came first: losing a peer must not crash a process.
  for (const int rank : failures_)
    if (const ExitStatus& ending = *member(rank).ending;
        rank != cause_ && ending.signal != 0 && !is_from_outside(ending.signal))
      base::log_warn("{} {}", describe(rank), to_text(ending));
  if (!could_not_start_ && first_signal_ns_ == 0 && first().ending && !first().ending->is_failure())
    for (const Member& one : members_)
      if (one.was_told_to_end)
        base::log_warn("{} did not end within {} s after {} and was ended", one.name, grace_seconds_, first().name);
  return code;
}

int Launcher::exit_code() const {
  if (last_signal_ != 0) return 128 + last_signal_;
  const Member& zero = first();
  const bool ended_by_itself = zero.ending && zero.ending->signal == 0 && !zero.was_told_to_end;
  if (ended_by_itself && zero.ending->code == 0) return 0;
  if (could_not_start_) return 2;
  if (ended_by_itself && zero.ending->code != kSshFailed) return zero.ending->code;
  return cause_ >= 0 && member(cause_).ending && member(cause_).ending->code == 2 ? 2 : 1;
}

std::string Launcher::describe(int rank) const {
  const Member& one = member(rank);
  return one.host.empty() ? fmt::format("{} (process {})", one.name, one.process->id())
                          : fmt::format("{} on host {}", one.name, one.host);
}

std::string Launcher::describe_failure() const {
  const Member& cause = member(cause_);
  if (first_is_frozen_)
    return fmt::format(
        "{} did not answer the others any more: it was stopped, or its host or network hangs; it was "
        "ended, and with it the job",
        describe(cause_));
  const ExitStatus& ending = *cause.ending;
  const bool has_words = !last_words_.empty() && !is_from_outside(ending.signal);
  const std::string who = describe(cause_);
  if (!cause.host.empty() && has_words && could_not_start_) return fmt::format("{}: {}", who, last_words_);
  if (!cause.host.empty() && ending.code == kSshFailed && !has_words)
    return fmt::format("{} could not be started, or the connection to it was lost (ssh ended with exit code {})", who,
                       ending.code);
  // This launcher did not send the SIGKILL: processes that it has ended are not in failures_.
  if (ending.signal == SIGKILL)
    return fmt::format("{} {}; unless somebody did that, the kernel's OOM killer did: see 'Out of memory' in dmesg{}",
                       who, to_text(ending), cause.host.empty() ? "" : " there");
  return fmt::format("{} {}{}", who, to_text(ending), has_words ? ": " + last_words_ : "");
}

}  // namespace trireme::cluster
