// RequestThreads: a worker's threads that talk to the servers, one per server and lane (see server_protocol.h).
// give() is thread-safe; the other functions have one caller at a time. Each thread runs its requests in the order in
// which they were given, while the worker computes.
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
  int bucket = 0;        // number of the bucket at its server
  std::size_t mark = 0;  // wait(mark) waits for all requests with this mark
};

class RequestThreads {
 public:
  // `run` is called on a request thread and must give up when `stop` is set. Marks are 0 to `marks` - 1.
  using Run = std::function<void(const QueuedRequest& queued, const std::atomic<bool>& stop)>;
  // `cpus`: the cores on which they may run, usually more than the one a worker's thread is pinned to; empty: as the
  // caller.
  RequestThreads(int servers, std::size_t marks, const std::vector<int>& cpus, Run run);
  ~RequestThreads();  // drops the requests that have not begun
  RequestThreads(const RequestThreads&) = delete;
  RequestThreads& operator=(const RequestThreads&) = delete;

  void give(const QueuedRequest& queued);
  // Returns when the requests given so far have run; throws the first failure of any request.
  void wait(std::size_t mark);
  void wait_all();

  // Seconds since the last call in which at least one request was open. REQUIRES: no request is open.
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
  std::condition_variable done_;  // a request has ended
  std::vector<int> open_;         // unfinished requests per mark
  int open_in_all_ = 0;
  std::int64_t busy_since_ns_ = 0, busy_ns_ = 0;
  std::exception_ptr failure_;
  std::vector<std::unique_ptr<RequestThread>> threads_;  // by server, then lane
};

}  // namespace trireme::strategy
