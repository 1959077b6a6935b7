#include "base/cpu/thread_team.h"

#include <system_error>

#include "base/cpu/cores.h"
#include "base/cpu/event_count.h"
#include "base/cpu/simd.h"
#include "base/cpu/thread_name.h"
#include "base/error.h"

namespace trireme::base {
ThreadTeam::ThreadTeam(int members, const std::vector<int>& cpus, bool may_spin)
    : members_(members),
      may_spin_(may_spin),
      cpus_(cpus),
      pinned_(!cpus.empty() && static_cast<int>(cpus.size()) >= members),
      failures_(static_cast<std::size_t>(members)) {
  if (pinned_) pin_this_thread(cpus_[0]);
  try {
    for (int member = 1; member < members_; ++member)
      threads_.emplace_back([this, member] {
        name_this_thread("compute " + std::to_string(member));
        work(member, pinned_ ? cpus_[static_cast<std::size_t>(member)] : -1);
      });
  } catch (const std::system_error& error) {
    dismiss();
    user_error("cannot start {} threads ({}); use fewer --threads", members_, error.what());
  }
}

ThreadTeam::~ThreadTeam() { dismiss(); }

void ThreadTeam::dismiss() {
  stop_ = true;
  generation_.fetch_add(1, std::memory_order_release);
  generation_.notify_all();
  for (std::thread& thread : threads_) thread.join();
  if (pinned_) unpin_this_thread(cpus_);
}

void ThreadTeam::run(FunctionRef<void(int)> job) {
  job_ = &job;
  running_.store(members_ - 1, std::memory_order_relaxed);
  if (members_ > 1) {
    generation_.fetch_add(1, std::memory_order_release);
    generation_.notify_all();
  }
  call(0);
  for (int left = running_.load(std::memory_order_acquire); left != 0; left = running_.load(std::memory_order_acquire))
    wait_until_changed(running_, left, may_spin_);
  for (std::exception_ptr& failure : failures_)
    if (failure) {
      const std::exception_ptr first = failure;
      for (std::exception_ptr& each : failures_) each = nullptr;
      std::rethrow_exception(first);
    }
}

void ThreadTeam::call(int member) {
  set_flush_to_zero();
  try {
    (*job_)(member);
  } catch (...) {
    failures_[static_cast<std::size_t>(member)] = std::current_exception();
  }
}

void ThreadTeam::work(int member, int cpu) {
  if (cpu >= 0) pin_this_thread(cpu);
  std::uint32_t seen = 0;
  for (;;) {
    wait_until_changed(generation_, seen, may_spin_);
    ++seen;
    if (stop_) return;
    call(member);
    if (running_.fetch_sub(1, std::memory_order_acq_rel) == 1) running_.notify_one();
  }
}

}  // namespace trireme::base
