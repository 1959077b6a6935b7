// SpanGatherer: receives the spans that other processes send to the helm's.
// Its own thread looks several times a second; it does not wait for messages, because a thread that waits in the
// mailbox is woken for those of others, too.
#pragma once

#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "comm/group/group.h"
#include "train/observer/span_outlet.h"

namespace trireme::train {

class SpanGatherer {
 public:
  // Both must outlive it. `cpus`: on which the thread may run; empty: those of the caller.
  SpanGatherer(comm::Group& group, SpanOutlet& outlet, std::vector<int> cpus);
  ~SpanGatherer();
  SpanGatherer(const SpanGatherer&) = delete;
  SpanGatherer& operator=(const SpanGatherer&) = delete;

  // Passes on all that has arrived.
  void drain();

 private:
  void run();
  bool take_one();  // false: nothing is there, or the group is broken

  comm::Group& group_;
  SpanOutlet& outlet_;
  std::vector<int> cpus_;
  std::mutex mutex_;  // guards the members below
  std::condition_variable wake_;
  bool stops_ = false;
  std::string room_;
  std::thread thread_;
};

}  // namespace trireme::train
