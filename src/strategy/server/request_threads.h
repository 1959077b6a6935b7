// RequestThreads: the threads of a worker that talk to the servers, one for each server and lane (see
// server_protocol.h). They run requests in the order in which those are given, while the worker computes.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "strategy/server/server_protocol.h"

namespace trireme::strategy {

struct QueuedRequest {
  RequestKind kind = RequestKind::end;
  int server = 0, lane = 0;
  int bucket = 0;        // of the server's
  std::size_t mark = 0;  // what is waited for: all requests of a mark
};

class RequestThreads {
 public:
  // `run` is called in a request thread; it gives up when `stop` is set. Marks are counted from 0.
  using Run = std::function<void(const QueuedRequest& queued, const std::atomic<bool>& stop)>;
  // `cpus`: where they may run, which is more than the core that a worker's thread is pinned to; empty: as the caller.
  RequestThreads(int servers, std::size_t marks, const std::vector<int>& cpus, Run run);
  ~RequestThreads();  // requests that are not begun are forgotten
  RequestThreads(const RequestThreads&) = delete;
  RequestThreads& operator=(const RequestThreads&) = delete;

  // Any thread.
  void give(const QueuedRequest& queued);
  // Returns when the requests that were given are run; throws the first failure of any. One thread.
  void wait(std::size_t mark);
  void wait_all();

  // Seconds in which at least one of them had something to do, since the last call; when none has.
  double take_busy_seconds();

 private:
  struct RequestThread {
    std::deque<QueuedRequest> requests;  // guarded by the mutex
    std::condition_variable given;
    std::thread system_thread;
  };

  void work(RequestThread& thread);
  void end();
  void throw_failure() const;

  Run run_;
  std::atomic<bool> stop_{false};
  std::mutex mutex_;              // guards what follows
  std::condition_variable done_;  // a request is
  std::vector<int> open_;         // requests per mark
  int open_in_all_ = 0;
  std::int64_t busy_since_ns_ = 0, busy_ns_ = 0;
  std::exception_ptr failure_;
  std::vector<std::unique_ptr<RequestThread>> threads_;  // by server, then lane
};

}  // namespace trireme::strategy
