#include "base/cpu/core_swapper.h"
#include "base/cpu/thread_name.h"

#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <chrono>

namespace trireme::base {
namespace {

constexpr std::chrono::milliseconds kPatience{10};  // then stop waiting: the swap happens while both threads run

}  // namespace

bool put_on_cpu(std::int32_t thread, int cpu) {
  cpu_set_t mask;
  CPU_ZERO(&mask);
  CPU_SET(cpu, &mask);
  return sched_setaffinity(thread, sizeof mask, &mask) == 0;
}

std::int32_t this_thread() { return static_cast<std::int32_t>(syscall(SYS_gettid)); }

CoreSwapper::CoreSwapper()
    : thread_([this] {
        name_this_thread("core swapper");
        serve();
      }) {
  std::unique_lock lock(mutex_);
  moved_.wait(lock, [&] { return swapper_id_ != 0; });
}

CoreSwapper::~CoreSwapper() {
  {
    const std::lock_guard lock(mutex_);
    ends_ = true;
  }
  asked_.notify_one();
  thread_.join();
}

void CoreSwapper::change_cores(int here, std::int32_t other, int there) {
  std::unique_lock lock(mutex_);
  put_on_cpu(swapper_id_, here);
  request_ = {this_thread(), other, here, there};
  has_request_ = true;
  asked_.notify_one();
  moved_.wait_for(lock, kPatience, [&] { return !has_request_; });
}

void CoreSwapper::serve() {
  std::unique_lock lock(mutex_);
  swapper_id_ = this_thread();
  moved_.notify_one();
  while (true) {
    asked_.wait(lock, [&] { return has_request_ || ends_; });
    if (ends_) return;
    const Request request = request_;
    put_on_cpu(request.caller, request.there);
    has_request_ = false;
    lock.unlock();
    moved_.notify_one();
    put_on_cpu(request.other, request.here);
    lock.lock();
  }
}

}  // namespace trireme::base
