// Background: collectives that run while their caller does something else, one after the other in the order in which
// they were started, on links of their own. A thread that sleeps when there are none runs them; whoever waits for one
// runs those before it itself, if the thread has not begun. Any thread may start some, as long as all ranks start them
// in the same order.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <exception>
#include <functional>
#include <future>
#include <memory>
#include <mutex>
#include <thread>

#include "comm/collective/collectives.h"

namespace trireme::comm {

class Background;

// A collective that was started. Must not outlive its background.
class PendingCollective {
 public:
  PendingCollective(Background& background, std::future<void> end) : background_(&background), end_(std::move(end)) {}

  bool is_done() const { return !end_.valid() || end_.wait_for(std::chrono::seconds(0)) == std::future_status::ready; }
  // Returns when it is done, or throws, once, what it ended with; bounded by its own deadline and those before it.
  void wait();

 private:
  Background* background_;
  std::future<void> end_;
};

// Who runs a collective: the thread, or, sooner than it would wake up, who starts it and waits for it right away.
enum class RunBy : std::uint8_t { thread, waiter };

class Background {
 public:
  explicit Background(std::unique_ptr<Collectives> collectives);
  ~Background();  // those that were started are run to their end first
  Background(const Background&) = delete;
  Background& operator=(const Background&) = delete;

  // After a failure all later ones end with the same.
  PendingCollective start(std::function<void(Collectives&)> run, RunBy by = RunBy::thread);

 private:
  friend class PendingCollective;

  void run();
  void help(const PendingCollective& pending);
  void run_next(std::unique_lock<std::mutex>& lock);

  std::unique_ptr<Collectives> collectives_;
  std::mutex mutex_;
  std::condition_variable work_, done_;
  std::deque<std::packaged_task<void()>> waiting_;  // guarded by the mutex
  bool is_running_ = false, stop_ = false;          // guarded by the mutex
  std::exception_ptr failure_;                      // of who runs one
  std::thread thread_;
};

}  // namespace trireme::comm
