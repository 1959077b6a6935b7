#include "comm/transport/link/failure_state.h"

#include <sys/eventfd.h>

#include <algorithm>
#include <chrono>

namespace trireme::comm {
namespace {
constexpr std::chrono::seconds kVerdictPatience{3};
}

void FailureState::add_eventfd(int wakeup) {
  const std::lock_guard lock(mutex_);
  wakeups_.push_back(wakeup);
}

void FailureState::remove_eventfd(int wakeup) {
  const std::lock_guard lock(mutex_);
  std::erase(wakeups_, wakeup);
}

void FailureState::wake() {
  count_.fetch_add(1, std::memory_order_release);
  for (const int wakeup : wakeups_) eventfd_write(wakeup, 1);
}

void FailureState::raise(const std::string& sentence) {
  const std::lock_guard lock(mutex_);
  if (is_raised()) return;
  sentence_ = sentence;
  raised_.store(true, std::memory_order_release);
  changed_.notify_all();
  wake();
}

std::string FailureState::sentence() const {
  const std::lock_guard lock(mutex_);
  return sentence_;
}

void FailureState::leave(int rank) {
  const std::lock_guard lock(mutex_);
  has_left_[static_cast<std::size_t>(rank)].store(true, std::memory_order_release);
  changed_.notify_all();
  wake();
}

void FailureState::set_judge(std::function<void(int peer, const std::string& what)> judge) {
  const std::lock_guard lock(mutex_);
  judge_ = std::move(judge);
  changed_.notify_all();
}

void FailureState::report(int peer, const std::string& what) {
  std::unique_lock lock(mutex_);
  if (!judge_ || is_raised()) return;
  judge_(peer, what);
  changed_.wait_for(lock, kVerdictPatience, [&] { return is_raised() || has_left(peer) || !judge_; });
}

bool FailureState::is_raised_soon() {
  std::unique_lock lock(mutex_);
  return changed_.wait_for(lock, kVerdictPatience, [&] { return is_raised(); });
}

}  // namespace trireme::comm
