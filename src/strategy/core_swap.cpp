#include "strategy/core_swap.h"

#include <fmt/format.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>

#include "base/clock.h"

namespace trireme::strategy {
namespace {

constexpr std::int64_t kWhole = 1'000'000;
constexpr std::int64_t kLookEvery = 200'000;   // nanoseconds
constexpr std::int64_t kKnown = kWhole / 100;  // of a step over which a core's speed is measured
// How far one must be behind: less and less towards the end, when it cannot be made up for; a part of what is left of
// the one that is ahead.
constexpr std::int64_t kBehind = 12, kBehindAtEnd = kWhole / 200;
constexpr double kFaster = 1.35;  // changing places costs both of them a part of a millisecond

int package_of(int cpu) {
  std::ifstream file(fmt::format("/sys/devices/system/cpu/cpu{}/topology/physical_package_id", cpu));
  int package = 0;
  file >> package;
  return package;
}

bool pin(int thread, int cpu) {
  cpu_set_t mask;
  CPU_ZERO(&mask);
  CPU_SET(cpu, &mask);
  return sched_setaffinity(thread, sizeof mask, &mask) == 0;
}

}  // namespace

CoreSwap::CoreSwap(std::vector<CoreSeat*> seats, std::size_t own, int cpu)
    : seats_(std::move(seats)), own_(*seats_[own]), cpu_(cpu) {
  own_.thread.store(static_cast<std::int32_t>(syscall(SYS_gettid)), std::memory_order_relaxed);
  own_.package.store(package_of(cpu), std::memory_order_relaxed);
  own_.cpu.store(cpu, std::memory_order_release);
}

void CoreSwap::begin(std::int64_t step) {
  looked_ns_ = base::now_ns();
  cpu_ = own_.cpu.load(std::memory_order_acquire);
  measure_from(kWhole, looked_ns_);
  own_.left.store(kWhole, std::memory_order_relaxed);
  own_.step.store(step, std::memory_order_release);
}

void CoreSwap::measure_from(std::int64_t left, std::int64_t now_ns) {
  measured_ns_ = now_ns;
  measured_left_ = left;
}

void CoreSwap::look(double fraction) {
  const std::int64_t now = base::now_ns(), left = static_cast<std::int64_t>(fraction * kWhole);
  if (now - looked_ns_ < kLookEvery && left > 0) return;
  looked_ns_ = now;
  own_.left.store(left, std::memory_order_relaxed);
  if (const int cpu = own_.cpu.load(std::memory_order_acquire); cpu != cpu_) {  // somebody else moved us
    cpu_ = cpu;
    return measure_from(left, now);
  }
  if (measured_left_ - left >= kKnown) {
    own_.speed.store((measured_left_ - left) * 1'000'000 / (now - measured_ns_), std::memory_order_relaxed);
    measure_from(left, now);
  }
  if (CoreSeat* other = better_place(left); other != nullptr && change_places(*other)) measure_from(left, now);
}

// Of who is the furthest behind on a slower core; or of one on a faster core that is done.
CoreSeat* CoreSwap::better_place(std::int64_t left) const {
  const auto speed = static_cast<double>(own_.speed.load(std::memory_order_relaxed));
  if (speed == 0) return nullptr;
  CoreSeat* found = nullptr;
  std::int64_t most = left + std::max(left / kBehind, kBehindAtEnd);
  const std::int64_t step = own_.step.load(std::memory_order_relaxed);
  for (CoreSeat* seat : seats_) {
    if (seat == &own_ || seat->step.load(std::memory_order_acquire) != step) continue;
    const std::int64_t its_left = seat->left.load(std::memory_order_relaxed);
    const auto its_speed = static_cast<double>(seat->speed.load(std::memory_order_relaxed));
    if (its_speed == 0 || seat->package.load(std::memory_order_relaxed) != own_.package.load(std::memory_order_relaxed))
      continue;
    if (its_left == 0 && left > kBehindAtEnd && its_speed > kFaster * speed) return seat;
    if (its_left <= most || speed < kFaster * its_speed) continue;
    found = seat;
    most = its_left;
  }
  return found;
}

bool CoreSwap::change_places(CoreSeat& other) {
  std::int32_t free = 0;
  if (!seats_[0]->lock.compare_exchange_strong(free, 1, std::memory_order_acq_rel)) return false;
  const int here = own_.cpu.load(std::memory_order_acquire), there = other.cpu.load(std::memory_order_acquire);
  bool moved = here == cpu_ && pin(other.thread.load(std::memory_order_relaxed), here);
  if (moved) {
    pin(0, there);
    cpu_ = there;
    own_.cpu.store(there, std::memory_order_release);
    // The speed is the core's.
    own_.speed.store(other.speed.exchange(own_.speed.load(std::memory_order_relaxed), std::memory_order_relaxed),
                     std::memory_order_relaxed);
    other.cpu.store(here, std::memory_order_release);
    ++swaps_;
  }
  seats_[0]->lock.store(0, std::memory_order_release);
  return moved;
}

}  // namespace trireme::strategy
