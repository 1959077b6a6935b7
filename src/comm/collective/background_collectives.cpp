#include "comm/collective/background_collectives.h"

#include <utility>

#include "base/cpu/simd.h"
#include "base/cpu/thread_name.h"

namespace trireme::comm {

Background::Background(std::unique_ptr<Collectives> collectives)
    : collectives_(std::move(collectives)), thread_([this] { run(); }) {}

Background::~Background() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  work_.notify_one();
  thread_.join();
}

PendingCollective Background::start(std::function<void(Collectives&)> run, RunBy by) {
  std::packaged_task<void()> task([this, run = std::move(run)] {
    if (failure_) std::rethrow_exception(failure_);
    try {
      run(*collectives_);
    } catch (...) {
      failure_ = std::current_exception();
      throw;
    }
  });
  PendingCollective pending(*this, task.get_future());
  {
    const std::lock_guard lock(mutex_);
    waiting_.push_back(std::move(task));
  }
  if (by == RunBy::thread) work_.notify_one();
  return pending;
}

void Background::run_next(std::unique_lock<std::mutex>& lock) {
  std::packaged_task<void()> task = std::move(waiting_.front());
  waiting_.pop_front();
  is_running_ = true;
  lock.unlock();
  task();
  lock.lock();
  is_running_ = false;
  done_.notify_all();
}

void Background::run() {
  base::name_this_thread("collectives");
  base::set_flush_to_zero();
  std::unique_lock lock(mutex_);
  for (;;) {
    work_.wait(lock, [&] { return !is_running_ && (stop_ || !waiting_.empty()); });
    if (waiting_.empty()) return;
    run_next(lock);
  }
}

void Background::help(const PendingCollective& pending) {
  base::set_flush_to_zero();
  std::unique_lock lock(mutex_);
  while (!pending.is_done()) {
    if (is_running_)
      done_.wait(lock, [&] { return !is_running_ || pending.is_done(); });
    else
      run_next(lock);
  }
  if (!is_running_ && (stop_ || !waiting_.empty())) work_.notify_one();
}

void PendingCollective::wait() {
  if (!end_.valid()) return;
  background_->help(*this);
  end_.get();
}

}  // namespace trireme::comm
