#include "train/observer/span_gatherer.h"

#include <chrono>
#include <exception>
#include <span>
#include <utility>

#include "base/cpu/cores.h"
#include "base/cpu/thread_name.h"
#include "base/error.h"
#include "observe/trace/span_stream.h"
#include "train/messages/role_mailbox.h"

namespace trireme::train {
namespace {

constexpr std::chrono::milliseconds kLook{80}, kLookAgain{2};

}  // namespace

SpanGatherer::SpanGatherer(comm::Group& group, SpanOutlet& outlet, std::vector<int> cpus)
    : group_(group), outlet_(outlet), cpus_(std::move(cpus)) {
  thread_ = std::thread([this] { run(); });
}

SpanGatherer::~SpanGatherer() {
  {
    const std::lock_guard lock(mutex_);
    stops_ = true;
  }
  wake_.notify_all();
  thread_.join();
}

void SpanGatherer::run() {
  base::name_this_thread("spans of others");
  if (!cpus_.empty()) base::unpin_this_thread(cpus_);
  std::unique_lock lock(mutex_);
  while (!stops_) {
    const bool got = take_one();
    while (got && take_one()) {
    }
    wake_.wait_for(lock, got ? kLookAgain : kLook, [&] { return stops_; });
  }
  while (take_one()) {
  }
}

void SpanGatherer::drain() {
  const std::lock_guard lock(mutex_);
  while (take_one()) {
  }
}

bool SpanGatherer::take_one() try {
  room_.resize(observe::SpanStream::kMostBytes + 1024);
  const auto got = group_.mailbox().receive_within(0, comm::kAnyRank, kSpans,
                                                   std::as_writable_bytes(std::span(room_.data(), room_.size())));
  if (!got) return false;
  outlet_.deliver(room_.substr(0, got->bytes));
  return true;
} catch (const std::exception&) {  // the group is broken, or there is no memory
  return false;
}

}  // namespace trireme::train
