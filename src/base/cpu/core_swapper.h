// CoreSwapper: swaps two running threads between cores without leaving either core idle.
// One caller of change_cores() at a time.
//
// Changing the affinity of a running thread blocks the caller until the kernel has stopped that thread. If the caller
// runs on that thread's new core, it then finds its own core taken and waits for the next scheduler tick before it can
// move to the other core: 4 ms of an idle core per swap. So the caller sleeps first; the swapper's thread, on the
// caller's core, moves the sleeping caller, which needs no stopping, and then the other thread. Only the swapper waits
// for that thread to be stopped.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <thread>

namespace trireme::base {

// Pins a thread of any process (0: the calling thread) to one cpu; false if the system refuses.
bool put_on_cpu(std::int32_t thread, int cpu);
std::int32_t this_thread();

class CoreSwapper {
 public:
  CoreSwapper();
  ~CoreSwapper();
  CoreSwapper(const CoreSwapper&) = delete;
  CoreSwapper& operator=(const CoreSwapper&) = delete;

  // Moves the calling thread from cpu `here`, where it is pinned, to cpu `there`, and the thread `other` from `there`
  // to `here`. The move of `other` may complete after the return.
  void change_cores(int here, std::int32_t other, int there);

 private:
  struct Request {
    std::int32_t caller = 0, other = 0;
    int here = 0, there = 0;
  };
  void serve();

  std::mutex mutex_;
  std::condition_variable asked_, moved_;
  Request request_;
  bool has_request_ = false, ends_ = false;
  std::int32_t swapper_id_ = 0;  // 0: not started yet
  std::thread thread_;
};

}  // namespace trireme::base
