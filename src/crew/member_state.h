// Crew::MemberState and Crew::ThreadState: what a Crew keeps per member and per thread. Included by crew*.cpp only.
#pragma once

#include <map>
#include <tuple>
#include <vector>

#include "crew/crew.h"
#include "crew/member_profile.h"

namespace trireme::crew {

// One member of the plan: its memory and its progress. Any thread may continue it, one at a time.
struct Crew::MemberState {
  std::vector<tensor::Buffer> arenas;
  std::vector<tensor::Buffer> whole, passing;  // gradient slots of trained parameters
  std::vector<tensor::Buffer> statistics;      // per slot; per oar when the schedule is layer by layer
  std::map<std::tuple<std::int64_t, bool, int>, std::unique_ptr<graph::Instance>> instances;
  int member = 0;
  observe::SpanLane* spans = nullptr;  // null: nobody wants them
  // Of the current step:
  std::int64_t first = 0;   // the first of the tasks being computed
  std::size_t segment = 0;  // their next segment; backward segments count on after the forward ones
  int layer = 0;            // the gradient layer that they finish next
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

// One thread: its cursor into the queue, its times and its buffers.
struct Crew::ThreadState {
  LayerQueue::Cursor cursor;
  std::int64_t late_ns = 0, update_ns = 0, done_ns = 0, took_ns = 0, waited_ns = 0;
  MemberProfile profile;
  std::vector<const float*> partials;  // of the current chunk
  std::vector<tensor::Buffer> sums;    // for late gradients
  tensor::Buffer scratch;

  void start() {
    cursor = {};
    late_ns = update_ns = done_ns = took_ns = waited_ns = 0;
  }
};

}  // namespace trireme::crew
