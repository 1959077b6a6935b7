// ConnectionPool: the threads of the page's server, made when they are needed. A live connection holds one.
// Thread-safe.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include "watch/page/serve/http_library.h"

namespace trireme::watch {

class ConnectionPool : public httplib::TaskQueue {
 public:
  ConnectionPool(std::size_t most_threads, std::size_t most_waiting)
      : most_threads_(most_threads), most_waiting_(most_waiting) {}

  // When too many wait, runs it in the calling thread, which accepts connections: there the server refuses.
  void enqueue(std::function<void()> connection) override;
  void shutdown() override;

 private:
  void work();

  const std::size_t most_threads_, most_waiting_;
  std::mutex mutex_;  // guards all below
  std::condition_variable wake_;
  std::deque<std::function<void()>> waiting_;
  std::vector<std::thread> threads_;
  std::size_t idle_ = 0;
  bool ends_ = false;
};

}  // namespace trireme::watch
