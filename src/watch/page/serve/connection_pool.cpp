#include "watch/page/serve/connection_pool.h"

#include <system_error>

#include "base/cpu/thread_name.h"

namespace trireme::watch {

void ConnectionPool::enqueue(std::function<void()> connection) {
  {
    std::unique_lock lock(mutex_);
    if (waiting_.size() < most_waiting_) {
      if (idle_ <= waiting_.size() && threads_.size() < most_threads_) try {
          threads_.emplace_back([this] { work(); });
        } catch (const std::system_error&) {  // no more threads for this process: those that are there must do
          if (threads_.empty()) {
            lock.unlock();
            return connection();
          }
        }
      waiting_.push_back(std::move(connection));
      wake_.notify_one();
      return;
    }
  }
  connection();
}

void ConnectionPool::work() {
  base::name_this_thread("page browser");
  std::unique_lock lock(mutex_);
  for (;;) {
    ++idle_;
    wake_.wait(lock, [&] { return !waiting_.empty() || ends_; });
    --idle_;
    if (waiting_.empty()) return;
    const std::function<void()> connection = std::move(waiting_.front());
    waiting_.pop_front();
    lock.unlock();
    connection();
    lock.lock();
  }
}

void ConnectionPool::shutdown() {
  {
    const std::lock_guard lock(mutex_);
    ends_ = true;
  }
  wake_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

}  // namespace trireme::watch
