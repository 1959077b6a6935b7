#include "strategy/affinity/core_rotation.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>

#include "base/system/clock.h"

namespace trireme::strategy {
namespace {

constexpr std::int64_t kWhole = 1'000'000;
constexpr std::int64_t kLookEvery = 200'000;   // nanoseconds
constexpr std::int64_t kKnown = kWhole / 100;  // a core's speed is measured over at least 1 % of a step
// A swap needs a lag of at least 1/40 of what the worker ahead has left: towards the end of a step a smaller lag is
// enough, since less time is left to make up for it. Never less than 1/400 of a step.
constexpr std::int64_t kBehind = 40, kBehindAtEnd = kWhole / 400;
constexpr double kFaster = 1.1;       // required speed ratio; a swap costs each worker 0.1 ms
constexpr std::int64_t kNotYet = -1;  // measure from the first look() on: a step may begin with a wait for weights
constexpr double kFresh = 0.3;        // weight of the newest measurement: layers slow down differently on a shared core

int package_of(int cpu) {
  std::ifstream file(fmt::format("/sys/devices/system/cpu/cpu{}/topology/physical_package_id", cpu));
  int package = 0;
  file >> package;
  return package;
}

// The worker's remaining work, extrapolated from its last report to now.
std::int64_t left_now(const CoreSlot& slot, std::int64_t now_ns) {
  const std::int64_t left = slot.left.load(std::memory_order_relaxed);
  const double since = static_cast<double>(now_ns - slot.reported_ns.load(std::memory_order_relaxed)) * 1e-6;
  const double done = since * static_cast<double>(slot.speed.load(std::memory_order_relaxed));
  return left == 0 ? 0 : std::max<std::int64_t>(left - static_cast<std::int64_t>(done), 1);
}

// True when swapping the cores of these two workers shortens the step. Both must be in the same step and package.
bool is_worth_it(const CoreSlot& ahead, std::int64_t its_left, const CoreSlot& behind, std::int64_t behind_left) {
  const auto fast = static_cast<double>(ahead.speed.load(std::memory_order_relaxed));
  const auto slow = static_cast<double>(behind.speed.load(std::memory_order_relaxed));
  return slow > 0 && fast >= kFaster * slow && behind_left > its_left + std::max(its_left / kBehind, kBehindAtEnd) &&
         ahead.step.load(std::memory_order_acquire) == behind.step.load(std::memory_order_acquire) &&
         ahead.package.load(std::memory_order_relaxed) == behind.package.load(std::memory_order_relaxed);
}

}  // namespace

CoreRotation::CoreRotation(std::vector<CoreSlot*> slots, std::size_t own, int cpu)
    : slots_(std::move(slots)), own_(*slots_[own]), cpu_(cpu) {
  own_.thread.store(base::this_thread(), std::memory_order_relaxed);
  own_.package.store(package_of(cpu), std::memory_order_relaxed);
  own_.cpu.store(cpu, std::memory_order_release);
}

void CoreRotation::begin(std::int64_t step) {
  cpu_ = own_.cpu.load(std::memory_order_acquire);
  looked_ns_ = base::now_ns();
  measure_from(kWhole, kNotYet);
  own_.left.store(kWhole, std::memory_order_relaxed);
  own_.reported_ns.store(looked_ns_, std::memory_order_relaxed);
  own_.step.store(step, std::memory_order_release);
}

void CoreRotation::measure_from(std::int64_t left, std::int64_t now_ns) {
  measured_ns_ = now_ns;
  measured_left_ = left;
}

void CoreRotation::measure(std::int64_t left, std::int64_t now_ns) {
  if (measured_ns_ == kNotYet) return measure_from(left, now_ns);
  if (measured_left_ - left < kKnown) return;
  const auto fresh = static_cast<double>(measured_left_ - left) * 1e6 /
                     static_cast<double>(std::max<std::int64_t>(now_ns - measured_ns_, 1));
  const auto before = static_cast<double>(own_.speed.load(std::memory_order_relaxed));
  const double speed = before == 0 ? fresh : kFresh * fresh + (1 - kFresh) * before;
  own_.speed.store(static_cast<std::int64_t>(speed), std::memory_order_relaxed);
  measure_from(left, now_ns);
}

void CoreRotation::look(double fraction) {
  const std::int64_t now = base::now_ns(), left = static_cast<std::int64_t>(fraction * kWhole);
  if (now - looked_ns_ < kLookEvery && left > 0) return;
  looked_ns_ = now;
  own_.left.store(left, std::memory_order_relaxed);
  own_.reported_ns.store(now, std::memory_order_relaxed);
  if (const int cpu = own_.cpu.load(std::memory_order_acquire); cpu != cpu_) {  // another worker has swapped them
    cpu_ = cpu;
    return measure_from(left, now);
  }
  measure(left, now);
  if (own_.speed.load(std::memory_order_relaxed) == 0) return;
  CoreSlot* other = left > 0 ? idle_slot(left) : nullptr;
  if (other == nullptr) other = furthest_behind(left, now);
  if (other != nullptr && swap_cores(*other)) measure_from(left, base::now_ns());
}

// A slot of a worker that is done and whose core is faster; null if there is none.
CoreSlot* CoreRotation::idle_slot(std::int64_t left) const {
  for (CoreSlot* slot : slots_)
    if (slot != &own_ && slot->left.load(std::memory_order_relaxed) == 0 && is_worth_it(*slot, 0, own_, left))
      return slot;
  return nullptr;
}

// The slot of the worker on a slower core with the most work left; null if no swap pays.
CoreSlot* CoreRotation::furthest_behind(std::int64_t left, std::int64_t now_ns) const {
  CoreSlot* found = nullptr;
  std::int64_t most = 0;
  for (CoreSlot* slot : slots_) {
    if (slot == &own_) continue;
    const std::int64_t its_left = left_now(*slot, now_ns);
    if (its_left <= most || !is_worth_it(own_, left, *slot, its_left)) continue;
    found = slot;
    most = its_left;
  }
  return found;
}

bool CoreRotation::swap_cores(CoreSlot& other) {
  std::int32_t free = 0;
  if (!slots_[0]->lock.compare_exchange_strong(free, 1, std::memory_order_acq_rel)) return false;
  const int here = own_.cpu.load(std::memory_order_acquire), there = other.cpu.load(std::memory_order_acquire);
  const bool is_here = here == cpu_;
  if (is_here) {
    // The speed belongs to the core, so it is swapped too.
    own_.speed.store(other.speed.exchange(own_.speed.load(std::memory_order_relaxed), std::memory_order_relaxed),
                     std::memory_order_relaxed);
    own_.cpu.store(there, std::memory_order_release);
    other.cpu.store(here, std::memory_order_release);
    const std::int32_t thread = other.thread.load(std::memory_order_relaxed);
    // A worker that is done sleeps, so a plain move of both threads delays nobody.
    if (other.left.load(std::memory_order_relaxed) == 0) {
      base::put_on_cpu(thread, here);
      base::put_on_cpu(0, there);
    } else {
      core_swapper_.change_cores(here, thread, there);
    }
    cpu_ = there;
  }
  slots_[0]->lock.store(0, std::memory_order_release);
  return is_here;
}

}  // namespace trireme::strategy
