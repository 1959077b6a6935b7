// CoreSwapper: makes two threads that run change cores, while neither core stands idle.
//
// Whoever moves a running thread sleeps until the system has stopped it; if it sits on the core where that one is to go
// on, it finds its own core taken and waits for the next tick of the clock before it can go the other way: 4 ms of an
// idle core for every change. So the one who wants to change sleeps first, the swapper sends it away on the core that
// it left, which needs no stopping, and then the other one, of whom the swapper alone waits to hear.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <thread>

namespace trireme::base {

// Lets a thread of any process, 0: the calling one, run on one cpu only; false when the system refuses.
bool put_on_cpu(std::int32_t thread, int cpu);
std::int32_t this_thread();

class CoreSwapper {
 public:
  CoreSwapper();
  ~CoreSwapper();
  CoreSwapper(const CoreSwapper&) = delete;
  CoreSwapper& operator=(const CoreSwapper&) = delete;

  // The calling thread, which is pinned to `here`, goes on at `there`, and the thread that is pinned to that goes on
  // here, now or in a moment.
  void change_cores(int here, std::int32_t other, int there);

 private:
  struct Request {
    std::int32_t first = 0, other = 0;
    int here = 0, there = 0;
  };
  void serve();

  std::mutex mutex_;
  std::condition_variable asked_, moved_;
  Request request_;
  bool has_request_ = false, ends_ = false;
  std::int32_t number_ = 0;  // of the swapper's thread; 0: not there yet
  std::thread thread_;
};

}  // namespace trireme::base
