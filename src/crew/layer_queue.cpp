#include "crew/layer_queue.h"

#include <algorithm>

namespace trireme::crew {

LayerQueue::LayerQueue(const std::vector<int>& chunks, int prompt_layers, base::EventCount& events)
    : layers_(static_cast<int>(chunks.size())),
      prompt_layers_(prompt_layers),
      events_(&events),
      states_(new State[chunks.size()]) {
  for (int k = 0; k < layers_; ++k) state(k).chunks = chunks[static_cast<std::size_t>(k)];
}

void LayerQueue::start(int arriving) {
  arriving_ = arriving;
  given_up_.store(false, std::memory_order_relaxed);
  for (int k = 0; k < layers_; ++k) {
    state(k).arrived.store(0, std::memory_order_relaxed);
    state(k).next.store(0, std::memory_order_relaxed);
    state(k).used.store(0, std::memory_order_relaxed);
  }
}

void LayerQueue::arrive(int layer) {
  if (state(layer).arrived.fetch_add(1, std::memory_order_acq_rel) + 1 == arriving_) events_->notify();
}

void LayerQueue::run_chunk(int layer, int chunk, RunChunk run) {
  run(layer, chunk);
  if (state(layer).used.fetch_add(1, std::memory_order_acq_rel) + 1 == state(layer).chunks) events_->notify();
}

bool LayerQueue::help(Cursor& cursor, Take take, RunChunk run) {
  bool took = false;
  for (; cursor.open < prompt_layers_ && ready(cursor.open); ++cursor.open) {
    State& layer = state(cursor.open);
    const int share = take == Take::all ? layer.chunks : std::max(layer.chunks / arriving_, 1);
    for (int taken = 0;; ++taken) {
      if (taken == share && layer.next.load(std::memory_order_relaxed) < layer.chunks) return took;
      const int chunk = layer.next.fetch_add(1, std::memory_order_relaxed);
      if (chunk >= layer.chunks) break;
      took = true;
      run_chunk(cursor.open, chunk, run);
    }
  }
  return (take == Take::all && help_late(cursor, run)) || took;
}

bool LayerQueue::help_late(Cursor& cursor, RunChunk run) {
  for (; prompt_layers_ + cursor.late < layers_ && ready(prompt_layers_ + cursor.late); ++cursor.late) {
    const int layer = prompt_layers_ + cursor.late;
    const int chunk = state(layer).next.fetch_add(1, std::memory_order_relaxed);
    if (chunk >= state(layer).chunks) continue;
    run_chunk(layer, chunk, run);
    return true;
  }
  return false;
}

bool LayerQueue::used_before(int layer, Cursor& cursor) const {
  while (cursor.used < layer && used(cursor.used)) ++cursor.used;
  return cursor.used >= layer;
}

void LayerQueue::give_up() {
  given_up_.store(true, std::memory_order_release);
  events_->notify();
}

}  // namespace trireme::crew
