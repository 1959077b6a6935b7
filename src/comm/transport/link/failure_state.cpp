#include "comm/transport/link/failure_state.h"

#include <sys/eventfd.h>

#include <algorithm>
#include <chrono>

namespace trireme::comm {
namespace {
constexpr std::chrono::seconds kVerdictPatience{3};
}

void FailureState::add_bell(int bell) {
  const std::lock_guard lock(mutex_);
  bells_.push_back(bell);
}

void FailureState::remove_bell(int bell) {
  const std::lock_guard lock(mutex_);
  std::erase(bells_, bell);
}

void FailureState::wake() {
  count_.fetch_add(1, std::memory_order_release);
  for (const int bell : bells_) eventfd_write(bell, 1);
}

void FailureState::raise(const std::string& sentence) {
  const std::lock_guard lock(mutex_);
  if (is_raised()) return;
  sentence_ = sentence;
  raised_.store(true, std::memory_order_release);
  news_.notify_all();
  wake();
}

std::string FailureState::sentence() const {
  const std::lock_guard lock(mutex_);
  return sentence_;
}

void FailureState::leave(int rank) {
  const std::lock_guard lock(mutex_);
  has_left_[static_cast<std::size_t>(rank)].store(true, std::memory_order_release);
  news_.notify_all();
  wake();
}

void FailureState::set_judge(std::function<void(int peer, const std::string& what)> judge) {
  const std::lock_guard lock(mutex_);
  judge_ = std::move(judge);
  news_.notify_all();
}

void FailureState::report(int peer, const std::string& what) {
  std::unique_lock lock(mutex_);
  if (!judge_ || is_raised()) return;
  judge_(peer, what);
  news_.wait_for(lock, kVerdictPatience, [&] { return is_raised() || has_left(peer) || !judge_; });
}

bool FailureState::is_raised_soon() {
  std::unique_lock lock(mutex_);
  return news_.wait_for(lock, kVerdictPatience, [&] { return is_raised(); });
}

}  // namespace trireme::comm
