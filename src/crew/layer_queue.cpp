#include "crew/layer_queue.h"

#include "crew/wait.h"

namespace trireme::crew {

LayerQueue::LayerQueue(const std::vector<int>& chunks, int members, bool may_spin)
    : layers_(static_cast<int>(chunks.size())),
      has_listeners_(members > 1),
      may_spin_(may_spin),
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

void LayerQueue::announce() {
  if (!has_listeners_) return;
  news_.fetch_add(1, std::memory_order_release);
  news_.notify_all();
}

void LayerQueue::arrive(int layer) {
  if (state(layer).arrived.fetch_add(1, std::memory_order_acq_rel) + 1 == arriving_) announce();
}

void LayerQueue::help(Place& place, RunChunk run) {
  for (; place.open < layers_ && ready(place.open); ++place.open) {
    State& layer = state(place.open);
    for (;;) {
      const int chunk = layer.next.fetch_add(1, std::memory_order_relaxed);
      if (chunk >= layer.chunks) break;
      run(place.open, chunk);
      if (layer.used.fetch_add(1, std::memory_order_acq_rel) + 1 == layer.chunks) announce();
    }
  }
}

bool LayerQueue::wait_until_used(int layer, Place& place, RunChunk run) {
  while (place.used < layer) {
    if (given_up_.load(std::memory_order_acquire)) return false;
    if (used(place.used)) {
      ++place.used;
      continue;
    }
    const std::uint32_t news = news_.load(std::memory_order_acquire);
    help(place, run);
    if (!used(place.used) && !(place.open < layers_ && ready(place.open)) && !given_up_.load(std::memory_order_acquire))
      wait_until_changed(news_, news, may_spin_);
  }
  return !given_up_.load(std::memory_order_acquire);
}

void LayerQueue::give_up() {
  given_up_.store(true, std::memory_order_release);
  announce();
}

}  // namespace trireme::crew
