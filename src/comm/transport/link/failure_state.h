// FailureState: what a rank knows about a failure in its group; wakes every thread that waits for a peer.
// Thread-safe.
// The first raise() sets the sentence with which all waits end; later ones have no effect.
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
  // Waits up to 3 s for raise().
  bool is_raised_soon();
  std::string sentence() const;

  // How often it was raised or a rank left, together.
  std::uint64_t count() const { return count_.load(std::memory_order_acquire); }

  // A rank left in good order: it will not answer any more.
  void leave(int rank);
  bool has_left(int rank) const { return has_left_[static_cast<std::size_t>(rank)].load(std::memory_order_acquire); }

  // Reports to the judge that this rank lost a peer. Waits up to 3 s for the verdict, which calls raise(), or for the
  // news that the peer left. Returns at once if there is no judge.
  void report(int peer, const std::string& what);
  // An empty function means that nobody judges any more: waits for a verdict end.
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
