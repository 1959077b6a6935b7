#include "comm/background.h"

#include <utility>

#include "base/simd.h"

namespace trireme::comm {

Background::Background(std::unique_ptr<Collectives> collectives)
    : collectives_(std::move(collectives)), thread_([this] { run(); }) {}

Background::~Background() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  news_.notify_one();
  thread_.join();
}

Pending Background::start(std::function<void(Collectives&)> run) {
  std::packaged_task<void()> task([this, run = std::move(run)] {
    if (failure_) std::rethrow_exception(failure_);
    try {
      run(*collectives_);
    } catch (...) {
      failure_ = std::current_exception();
      throw;
    }
  });
  Pending pending(task.get_future());
  {
    const std::lock_guard lock(mutex_);
    waiting_.push_back(std::move(task));
  }
  news_.notify_one();
  return pending;
}

void Background::run() {
  base::set_flush_to_zero();
  std::unique_lock lock(mutex_);
  for (;;) {
    news_.wait(lock, [&] { return stop_ || !waiting_.empty(); });
    if (waiting_.empty()) return;
    std::packaged_task<void()> task = std::move(waiting_.front());
    waiting_.pop_front();
    lock.unlock();
    task();
    lock.lock();
  }
}

}  // namespace trireme::comm
