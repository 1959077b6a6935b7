// ThreadTeam: a fixed set of threads that run one function together. The caller is member 0.
// One caller at a time.
//
// Waiting spins briefly if `may_spin`, then sleeps; allow spinning only with at most as many members as cores. Members
// flush denormals to zero and are pinned, one per cpu, if there are enough cpus. run() rethrows a member's exception.
#pragma once

#include <atomic>
#include <cstdint>
#include <exception>
#include <thread>
#include <vector>

#include "base/function_ref.h"

namespace trireme::base {

class ThreadTeam {
 public:
  // Pins member i to cpus[i] if there are at least `members` cpus, else nobody.
  ThreadTeam(int members, const std::vector<int>& cpus, bool may_spin);
  ~ThreadTeam();
  ThreadTeam(const ThreadTeam&) = delete;
  ThreadTeam& operator=(const ThreadTeam&) = delete;

  int members() const { return members_; }
  // Calls job(member) on every member and returns when all are done.
  void run(FunctionRef<void(int)> job);

 private:
  void work(int member, int cpu);
  void call(int member);
  void dismiss();

  int members_;
  bool may_spin_;
  std::vector<int> cpus_;
  bool pinned_;
  const FunctionRef<void(int)>* job_ = nullptr;
  bool stop_ = false;
  alignas(64) std::atomic<std::uint32_t> generation_{0};
  alignas(64) std::atomic<int> running_{0};
  std::vector<std::exception_ptr> failures_;
  std::vector<std::thread> threads_;
};

}  // namespace trireme::base
