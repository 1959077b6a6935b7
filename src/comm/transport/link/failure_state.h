// FailureState: what a group knows about the failure of one of its ranks. Raised once, by whoever hears of it first;
// whoever waits for a peer is woken and ends with its sentence. Any thread.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <vector>

namespace trireme::comm {

class FailureState {
 public:
  explicit FailureState(int world) : has_left_(static_cast<std::size_t>(world)) {}

  // `wakeup` is an eventfd that a waiting thread polls.
  void add_eventfd(int wakeup);
  void remove_eventfd(int wakeup);

  void raise(const std::string& sentence);
  bool is_raised() const { return raised_.load(std::memory_order_acquire); }
  // Waits a moment for it.
  bool is_raised_soon();
  std::string sentence() const;

  // How often it was raised or a rank left.
  std::uint64_t count() const { return count_.load(std::memory_order_acquire); }

  // A rank that left in good order: it answers no more.
  void leave(int rank);
  bool has_left(int rank) const { return has_left_[static_cast<std::size_t>(rank)].load(std::memory_order_acquire); }

  // Tells whoever judges that this rank lost a peer, and waits a moment for the verdict, which raises the alarm, or the
  // word that the peer left. Returns at once where nobody judges.
  void report(int peer, const std::string& what);
  // An empty one: nobody judges any more, so whoever waits for a verdict goes on.
  void set_judge(std::function<void(int peer, const std::string& what)> judge);

 private:
  void wake();

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::string sentence_;
  std::vector<int> wakeups_;
  std::function<void(int, const std::string&)> judge_;
  std::vector<std::atomic<bool>> has_left_;
  std::atomic<bool> raised_{false};
  std::atomic<std::uint64_t> count_{0};
};

}  // namespace trireme::comm
