// What a Crew keeps per member and per thread; of its own files only.
#pragma once

#include <map>
#include <tuple>
#include <vector>

#include "crew/crew.h"
#include "crew/member_profile.h"

namespace trireme::crew {

// One member of the plan: its memory, and how far its oars are. Any thread may go on with it, one at a time.
struct Crew::MemberState {
  std::vector<tensor::Buffer> arenas;
  std::vector<tensor::Buffer> whole, passing;  // gradient slots of trained parameters
  std::vector<tensor::Buffer> statistics;      // per slot, or per oar when all oars go forward before one goes back
  std::map<std::tuple<std::int64_t, bool, int>, std::unique_ptr<graph::Instance>> instances;
  int member = 0;
  // Of the current step:
  std::int64_t first = 0;   // of its tasks, that are computed now
  std::size_t segment = 0;  // of their way forward and back
  int layer = 0;            // that is finished next
  std::int64_t start_ns = 0, middle_ns = 0;
  std::vector<ops::OarRun> runs;
  std::vector<std::int64_t> took_ns;  // per segment
  std::int64_t forward_ns = 0, backward_ns = 0;
  MemberProfile profile;

  void start() {
    first = segment = 0;
    layer = 0;
    forward_ns = backward_ns = 0;
  }
  int number(const Slot& slot) const { return slot.index + (slot.passing ? static_cast<int>(whole.size()) : 0); }
};

// One thread.
struct Crew::ThreadState {
  LayerQueue::Cursor cursor;
  std::int64_t late_ns = 0, update_ns = 0, done_ns = 0, took_ns = 0, waited_ns = 0;
  MemberProfile profile;
  std::vector<const float*> partials;  // of the chunk in hand
  std::vector<tensor::Buffer> sums;    // for late gradients
  tensor::Buffer scratch;

  void start() {
    cursor = {};
    late_ns = update_ns = done_ns = took_ns = waited_ns = 0;
  }
};

}  // namespace trireme::crew
