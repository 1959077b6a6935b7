#include "data/readers/load_tasks.h"

#include <atomic>
#include <exception>
#include <thread>

namespace trireme::data {

void run_load_tasks(const std::vector<std::function<void()>>& tasks) {
  std::vector<std::exception_ptr> failures(tasks.size());
  std::atomic<std::size_t> next{0};
  const auto work = [&] {
    for (std::size_t i = next++; i < tasks.size(); i = next++) try {
        tasks[i]();
      } catch (...) {
        failures[i] = std::current_exception();
      }
  };
  {
    const std::jthread second(work);
    work();
  }
  for (const std::exception_ptr& failure : failures)
    if (failure) std::rethrow_exception(failure);
}

}  // namespace trireme::data
