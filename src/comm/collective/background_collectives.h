// Background: runs collectives in a thread while the callers do something else.
// Any thread may start collectives, as long as all ranks start them in the same order.
// Collectives run one after the other in the order in which they were started, over links of their own. The thread
// sleeps while there are none. A caller that waits for one runs it, and those queued before it, itself unless the
// thread is already running one.
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

// A started collective. Must not outlive its Background.
class PendingCollective {
 public:
  PendingCollective(Background& background, std::future<void> end) : background_(&background), end_(std::move(end)) {}

  bool is_done() const { return !end_.valid() || end_.wait_for(std::chrono::seconds(0)) == std::future_status::ready; }
  // Returns when it is done, or throws its error once. The wait is bounded by its deadline and those of the collectives
  // before it.
  void wait();

 private:
  Background* background_;
  std::future<void> end_;
};

// Who runs a collective: the background thread, or the caller, who waits for it right away and so need not wake the
// thread.
enum class RunBy : std::uint8_t { thread, waiter };

class Background {
 public:
  explicit Background(std::unique_ptr<Collectives> collectives);
  ~Background();  // runs all started collectives to their end first
  Background(const Background&) = delete;
  Background& operator=(const Background&) = delete;

  // After a failure all later collectives end with the same error.
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
  std::exception_ptr failure_;  // of the first collective that failed; used only by the thread that runs one
  std::thread thread_;
};

}  // namespace trireme::comm
