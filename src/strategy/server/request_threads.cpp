#include "strategy/server/request_threads.h"

#include <chrono>
#include <utility>

#include "base/cpu/cores.h"
#include "base/cpu/thread_name.h"
#include "base/system/clock.h"

namespace trireme::strategy {
namespace {
// Waits are ended by notification; this only bounds each sleep. Every request ends when the group's alarm is raised.
constexpr std::chrono::seconds kLook{1};
}  // namespace

RequestThreads::RequestThreads(int servers, std::size_t marks, const std::vector<int>& cpus, Run run)
    : run_(std::move(run)), open_(marks) {
  for (int i = 0; i < servers * kLanes; ++i) threads_.push_back(std::make_unique<RequestThread>());
  try {
    for (const auto& thread : threads_)
      thread->system_thread = std::thread([this, cpus, &one = *thread] {
        base::name_this_thread("requests");
        if (!cpus.empty()) base::unpin_this_thread(cpus);
        work(one);
      });
  } catch (...) {  // the system's limit of threads is reached
    end();
    throw;
  }
}

RequestThreads::~RequestThreads() { end(); }

void RequestThreads::end() {
  {
    const std::lock_guard lock(mutex_);
    stop_.store(true, std::memory_order_release);
    for (const auto& thread : threads_) thread->given.notify_all();
  }
  for (const auto& thread : threads_)
    if (thread->system_thread.joinable()) thread->system_thread.join();
}

void RequestThreads::give(const QueuedRequest& queued) {
  const std::lock_guard lock(mutex_);
  if (open_in_all_++ == 0) busy_since_ns_ = base::now_ns();
  ++open_[queued.mark];
  const int place = queued.server * kLanes + queued.lane;
  RequestThread& thread = *threads_[static_cast<std::size_t>(place)];
  thread.requests.push_back(queued);
  thread.given.notify_all();
}

void RequestThreads::work(RequestThread& thread) {
  std::unique_lock lock(mutex_);
  for (;;) {
    while (thread.requests.empty() && !stop_.load(std::memory_order_acquire)) thread.given.wait_for(lock, kLook);
    if (stop_.load(std::memory_order_acquire) || failure_) return;
    const QueuedRequest queued = thread.requests.front();
    thread.requests.pop_front();
    lock.unlock();
    std::exception_ptr failure;
    try {
      run_(queued, stop_);
    } catch (...) {
      failure = std::current_exception();
    }
    lock.lock();
    if (failure && !failure_) failure_ = failure;
    --open_[queued.mark];
    if (--open_in_all_ == 0) busy_ns_ += base::now_ns() - busy_since_ns_;
    done_.notify_all();
    if (failure) return;
  }
}

void RequestThreads::wait(std::size_t mark) {
  std::unique_lock lock(mutex_);
  while (open_[mark] > 0 && !failure_) done_.wait_for(lock, kLook);
  throw_failure();
}

void RequestThreads::wait_all() {
  std::unique_lock lock(mutex_);
  while (open_in_all_ > 0 && !failure_) done_.wait_for(lock, kLook);
  throw_failure();
}

void RequestThreads::throw_failure() const {
  if (failure_) std::rethrow_exception(failure_);
}

double RequestThreads::take_busy_seconds() {
  const std::lock_guard lock(mutex_);
  return 1e-9 * static_cast<double>(std::exchange(busy_ns_, 0));
}

}  // namespace trireme::strategy
