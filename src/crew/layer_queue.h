// LayerQueue: the layers whose gradients are complete at all members, as chunks that any idle thread takes and uses.
// All methods but start() may be called by all threads at once.
//
// A member arrives at a layer when its part of the layer's gradient is complete, layer after layer; the last member to
// arrive makes the layer ready. A layer is used up when all its chunks have been processed. No method blocks: a thread
// that needs the memory of a layer not used up yet, or that has nothing else to do, calls help() and then waits for an
// event. Nobody waits for the memory of late layers (gradient_layers.h), so idle threads take them last; threads on
// faster cores process more of them.
#pragma once

#include <atomic>
#include <memory>
#include <vector>

#include "base/cpu/event_count.h"
#include "base/function_ref.h"

namespace trireme::crew {

class LayerQueue {
 public:
  // chunks[k]: the number of chunks of layer k; layers from `prompt_layers` on are late. `events` is notified when a
  // layer becomes ready or is used up.
  LayerQueue(const std::vector<int>& chunks, int prompt_layers, base::EventCount& events);

  // Begins a step in which `arriving` members arrive at every layer.
  void start(int arriving);
  void arrive(int layer);

  // A thread's position in the queue; a fresh one for every step.
  struct Cursor {
    int open = 0;  // prompt layers before this one have no chunk left to take
    int late = 0;  // the number of late layers that have no chunk left to take
    int used = 0;  // layers before this one are used up
  };
  using RunChunk = base::FunctionRef<void(int layer, int chunk)>;  // chunk: counted from 0 within the layer
  // all: takes chunks of ready prompt layers until none is left, then one late chunk. share: takes at most a fair share
  // of each prompt layer's chunks and no late chunk; for threads with work of their own left, because a thread that
  // processes a large layer alone falls behind and makes the others wait at the end. Returns whether it took a chunk.
  enum class Take { all, share };
  bool help(Cursor& cursor, Take take, RunChunk run);
  // Whether all layers before `layer` are used up.
  bool used_before(int layer, Cursor& cursor) const;
  // Called after a failure: wakes all threads and makes them leave the step.
  void give_up();
  bool given_up() const { return given_up_.load(std::memory_order_acquire); }
  int layers() const { return layers_; }

 private:
  struct alignas(64) State {
    std::atomic<int> arrived{0}, next{0}, used{0};
    int chunks = 0;
  };
  bool ready(int layer) const { return state(layer).arrived.load(std::memory_order_acquire) >= arriving_; }
  bool used(int layer) const { return state(layer).used.load(std::memory_order_acquire) >= state(layer).chunks; }
  State& state(int layer) const { return states_[static_cast<std::size_t>(layer)]; }
  bool help_late(Cursor& cursor, RunChunk run);
  void run_chunk(int layer, int chunk, RunChunk run);

  int layers_, prompt_layers_;
  base::EventCount* events_;
  int arriving_ = 1;
  std::unique_ptr<State[]> states_;
  std::atomic<bool> given_up_{false};
};

}  // namespace trireme::crew
