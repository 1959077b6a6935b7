// LayerQueue: layers whose gradients are complete on all members, and their chunks, which any member with time takes.
//
// A member says arrive(layer) when its part of a layer is there, in order; the last to arrive makes the layer ready. No
// member waits unless it needs the memory of a layer that is not used up yet, or has nothing else to do; then it takes
// chunks itself, and sleeps only when there are none. All methods but start() may be called by all members at once.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/function_ref.h"

namespace trireme::crew {

class LayerQueue {
 public:
  // chunks[k]: the number of chunks of layer k; members: all who may wait here.
  LayerQueue(const std::vector<int>& chunks, int members, bool may_spin);

  // A new step, in which `arriving` of the members arrive at every layer.
  void start(int arriving);
  void arrive(int layer);

  // How far a member has seen the queue; a fresh one for every step.
  struct Place {
    int open = 0;  // the layers before it have no chunk left to take
    int used = 0;  // the layers before it are used up
  };
  using RunChunk = base::FunctionRef<void(int layer, int chunk)>;  // chunk: 0 ... of that layer
  // Takes chunks of ready layers while there are any.
  void help(Place& place, RunChunk run);
  // Returns when all layers before `layer` are used up, helping meanwhile; false when the step was given up.
  bool wait_until_used(int layer, Place& place, RunChunk run);
  // Somebody failed: nobody shall wait any longer.
  void give_up();
  int layers() const { return layers_; }

 private:
  struct alignas(64) State {
    std::atomic<int> arrived{0}, next{0}, used{0};
    int chunks = 0;
  };
  bool ready(int layer) const { return state(layer).arrived.load(std::memory_order_acquire) >= arriving_; }
  bool used(int layer) const { return state(layer).used.load(std::memory_order_acquire) >= state(layer).chunks; }
  State& state(int layer) const { return states_[static_cast<std::size_t>(layer)]; }
  void announce();

  int layers_;
  bool has_listeners_;
  bool may_spin_;
  int arriving_ = 1;
  std::unique_ptr<State[]> states_;
  alignas(64) std::atomic<std::uint32_t> news_{0};
  std::atomic<bool> given_up_{false};
};

}  // namespace trireme::crew
