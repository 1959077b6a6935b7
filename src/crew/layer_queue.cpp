#include "crew/layer_queue.h"

#include <algorithm>

namespace trireme::crew {

LayerQueue::LayerQueue(const std::vector<int>& chunks, News& news)
    : layers_(static_cast<int>(chunks.size())), news_(&news), states_(new State[chunks.size()]) {
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
  if (state(layer).arrived.fetch_add(1, std::memory_order_acq_rel) + 1 == arriving_) news_->announce();
}

bool LayerQueue::help(Place& place, Take take, RunChunk run) {
  bool took = false;
  for (; place.open < layers_ && ready(place.open); ++place.open) {
    State& layer = state(place.open);
    const int share = take == Take::all ? layer.chunks : std::max(layer.chunks / arriving_, 1);
    for (int taken = 0;; ++taken) {
      if (taken == share && layer.next.load(std::memory_order_relaxed) < layer.chunks) return took;
      const int chunk = layer.next.fetch_add(1, std::memory_order_relaxed);
      if (chunk >= layer.chunks) break;
      took = true;
      run(place.open, chunk);
      if (layer.used.fetch_add(1, std::memory_order_acq_rel) + 1 == layer.chunks) news_->announce();
    }
  }
  return took;
}

bool LayerQueue::used_before(int layer, Place& place) const {
  while (place.used < layer && used(place.used)) ++place.used;
  return place.used >= layer;
}

void LayerQueue::give_up() {
  given_up_.store(true, std::memory_order_release);
  news_->announce();
}

}  // namespace trireme::crew
