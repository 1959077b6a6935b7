// Background: collectives that run while their caller does something else, one after the other in the order in which
// they were started, on links of their own. The thread that runs them sleeps when there are none. Any thread may start
// some, as long as all ranks start them in the same order.
#pragma once

#include <chrono>
#include <condition_variable>
#include <deque>
#include <exception>
#include <functional>
#include <future>
#include <memory>
#include <mutex>
#include <thread>

#include "comm/collectives.h"

namespace trireme::comm {

// A collective that was started.
class Pending {
 public:
  explicit Pending(std::future<void> end) : end_(std::move(end)) {}

  bool is_done() const { return end_.wait_for(std::chrono::seconds(0)) == std::future_status::ready; }
  // Returns when it is done, or throws what it ended with; bounded by its own deadline and those before it. Once.
  void wait() { end_.get(); }

 private:
  std::future<void> end_;
};

class Background {
 public:
  explicit Background(std::unique_ptr<Collectives> collectives);
  ~Background();  // those that were started are run to their end first
  Background(const Background&) = delete;
  Background& operator=(const Background&) = delete;

  // `run` is called in the background's thread. After a failure all later ones end with the same.
  Pending start(std::function<void(Collectives&)> run);

 private:
  void run();

  std::unique_ptr<Collectives> collectives_;
  std::mutex mutex_;
  std::condition_variable news_;
  std::deque<std::packaged_task<void()>> waiting_;  // guarded by the mutex
  bool stop_ = false;                               // guarded by the mutex
  std::exception_ptr failure_;                      // of the thread alone
  std::thread thread_;
};

}  // namespace trireme::comm
