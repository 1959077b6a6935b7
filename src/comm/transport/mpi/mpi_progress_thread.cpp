#include "comm/transport/mpi/mpi_progress_thread.h"

#include <fmt/core.h>
#include <immintrin.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>

#include "base/error.h"
#include "base/system/clock.h"
#include "base/system/standard_streams.h"
#include "comm/transport/shared_memory/ring_link.h"

namespace trireme::comm {
namespace {

constexpr std::int64_t kSpinNs = 50'000, kShortestSleepNs = 20'000, kLongestSleepNs = 5'000'000;
constexpr std::int64_t kStillShare = 8;             // sleeps this part of the time since the last progress
constexpr std::chrono::seconds kAbortPatience{10};  // to wait for MPI to end this process

}  // namespace

MpiProgressThread::MpiProgressThread(const MpiCalls& mpi, int link_sets) : mpi_(mpi), link_sets_(link_sets) {
  std::promise<void> promise;
  std::future<void> started = promise.get_future();
  thread_ = std::thread([this, promise = std::move(promise)]() mutable { run(std::move(promise)); });
  try {
    started.get();  // MPI's launcher ends this process if others do not arrive
  } catch (...) {
    thread_.join();
    throw;
  }
}

MpiProgressThread::~MpiProgressThread() {
  stop_.store(true, std::memory_order_release);
  own_wakeup().notify();
  thread_.join();
}

void MpiProgressThread::run(std::promise<void> started) {
  try {
    start();
  } catch (...) {
    return started.set_exception(std::current_exception());
  }
  started.set_value();
  try {
    carry();
    expect_sent(mpi_.finish());
  } catch (const std::exception& error) {
    base::print_error(fmt::format("rank {}: {}", rank_, error.what()));
    mpi_.abort(1);
  }
}

void MpiProgressThread::start() {
  prctl(PR_SET_TIMERSLACK, 1);  // otherwise Linux may delay short sleeps by 50 us
  if (const char* failure = mpi_.start(link_sets_ * MpiChannel::kSlots, &rank_, &world_); failure != nullptr)
    base::user_error("MPI cannot be started: {}", failure);
  hosts_.resize(static_cast<std::size_t>(world_));
  expect_sent(mpi_.hosts(hosts_.data()));
  for (int i = 0; i <= link_sets_; ++i) {
    wakeups_.emplace_back(eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC));
    if (!wakeups_.back().is_open()) base::run_error("rank {}: cannot make an eventfd: {}", rank_, std::strerror(errno));
  }
  const std::size_t ring_pairs = static_cast<std::size_t>(link_sets_) * static_cast<std::size_t>(world_);
  memory_ = std::make_unique<MappedMemory>(
      wakeups_.size() * sizeof(WakeupState) + ring_pairs * 2 * Ring::bytes_for(MpiChannel::ring_bytes(world_)), -1);
  alarm_ = std::make_shared<FailureState>(world_);
  const std::size_t slots = ring_pairs * MpiChannel::kSlots;
  lane_of_slot_.resize(slots);
  ended_slots_.resize(slots);
  ended_bytes_.resize(slots);
  for (int peer = 0; peer < world_; ++peer)
    for (int link_set = 0; link_set < link_sets_ && peer != rank_; ++link_set) {
      const int slot = (peer * link_sets_ + link_set) * MpiChannel::kSlots;
      std::fill_n(lane_of_slot_.begin() + slot, MpiChannel::kSlots, static_cast<int>(lanes_.size()));
      const Rings both = rings(link_set, peer);
      lanes_.emplace_back(mpi_, both.out, both.in, wakeup(link_set), peer, link_set, slot);
    }
}

Wakeup MpiProgressThread::wakeup(int link_set) const {
  auto* states = reinterpret_cast<WakeupState*>(memory_->data());
  return {states + link_set, wakeups_[static_cast<std::size_t>(link_set)].descriptor()};
}

MpiProgressThread::Rings MpiProgressThread::rings(int link_set, int peer) const {
  const std::size_t capacity = MpiChannel::ring_bytes(world_), bytes = Ring::bytes_for(capacity);
  std::byte* first = memory_->data() + wakeups_.size() * sizeof(WakeupState) +
                     static_cast<std::size_t>(link_set * world_ + peer) * 2 * bytes;
  return {Ring(first, capacity), Ring(first + bytes, capacity)};
}

std::vector<std::unique_ptr<Link>> MpiProgressThread::links(int link_set) const {
  std::vector<std::unique_ptr<Link>> links(static_cast<std::size_t>(world_));
  for (int peer = 0; peer < world_; ++peer) {
    if (peer == rank_) continue;
    const Rings both = rings(link_set, peer);
    links[static_cast<std::size_t>(peer)] = std::make_unique<RingLink>(both.out, both.in, own_wakeup());
  }
  return links;
}

void MpiProgressThread::carry() {
  std::int64_t still_since = 0;  // when progress stopped; 0: it has not
  bool may_spin = false;
  while (!is_over()) {
    if (const int code = abort_code_.load(std::memory_order_acquire); code != 0) mpi_.abort(code);
    if (move()) {
      still_since = 0;
      continue;
    }
    const std::int64_t now = base::now_ns();
    if (still_since == 0) {
      still_since = now;
      may_spin = spin_.may_spin();
    }
    if (may_spin && now - still_since < kSpinNs)
      _mm_pause();
    else
      sleep(std::clamp((now - still_since) / kStillShare, kShortestSleepNs, kLongestSleepNs));
  }
}

bool MpiProgressThread::move() {
  if (stop_.load(std::memory_order_acquire) && !is_closing_) {
    is_closing_ = true;
    for (MpiChannel& lane : lanes_) lane.close();
  }
  bool moved = false;
  for (MpiChannel& lane : lanes_) moved |= lane.post();
  // A test may complete nothing but let MPI make progress, so that the next one completes something.
  return take_ended() || take_ended() || moved;
}

bool MpiProgressThread::take_ended() {
  int count = 0;
  expect_sent(mpi_.test(&count, ended_slots_.data(), ended_bytes_.data()));
  for (int i = 0; i < count; ++i) {
    const int slot = ended_slots_[static_cast<std::size_t>(i)];
    MpiChannel& lane = lanes_[static_cast<std::size_t>(lane_of_slot_[static_cast<std::size_t>(slot)])];
    const bool had_closed = lane.peer_has_closed();
    lane.end(slot, static_cast<std::size_t>(ended_bytes_[static_cast<std::size_t>(i)]));
    if (lane.peer_has_closed() && !had_closed) notice_closed(lane.peer());
  }
  return count > 0;
}

// A peer has left when all its lanes are closed.
void MpiProgressThread::notice_closed(int peer) {
  const bool has_left = std::all_of(lanes_.begin(), lanes_.end(), [&](const MpiChannel& lane) {
    return lane.peer() != peer || lane.peer_has_closed();
  });
  if (has_left) alarm_->leave(peer);
}

bool MpiProgressThread::could_move() const {
  return (stop_.load(std::memory_order_acquire) && !is_closing_) || abort_code_.load(std::memory_order_acquire) != 0 ||
         std::any_of(lanes_.begin(), lanes_.end(), [](const MpiChannel& lane) { return lane.could_post(); });
}

void MpiProgressThread::sleep(std::int64_t nanoseconds) {
  Wakeup wakeup = own_wakeup();
  wakeup.begin_sleep();
  if (!could_move()) {
    pollfd wait{wakeup.descriptor(), POLLIN, 0};
    const timespec time{0, nanoseconds};
    ppoll(&wait, 1, &time, nullptr);
  }
  wakeup.end_sleep();
}

bool MpiProgressThread::is_over() const {
  return stop_.load(std::memory_order_acquire) &&
         std::all_of(lanes_.begin(), lanes_.end(), [](const MpiChannel& lane) { return lane.is_over(); });
}

void MpiProgressThread::end_all_ranks(int exit_code) {
  abort_code_.store(exit_code, std::memory_order_release);
  own_wakeup().notify();
  std::this_thread::sleep_for(kAbortPatience);
}

}  // namespace trireme::comm
