// LayerQueue: layers whose gradients are complete at all members, and their chunks, which any thread with time takes.
//
// A member arrives at a layer when its part of it is there, in order; the last to arrive makes the layer ready. Nobody
// waits here: who needs the memory of a layer that is not used up yet, or has nothing else to do, helps and then waits
// for an event. The last layers may be late ones, whose memory nobody needs: they are left to threads with nothing else
// to do, so that those whose cores are faster today do more of them. All methods but start() may be called by all
// threads at once.
#pragma once

#include <atomic>
#include <memory>
#include <vector>

#include "base/cpu/event_count.h"
#include "base/function_ref.h"

namespace trireme::crew {

class LayerQueue {
 public:
  // chunks[k]: the number of chunks of layer k; late are those from `prompt_layers` on. `events` is announced when a
  // layer becomes ready or is used up.
  LayerQueue(const std::vector<int>& chunks, int prompt_layers, base::EventCount& events);

  // A new step, in which `arriving` members arrive at every layer.
  void start(int arriving);
  void arrive(int layer);

  // How far a thread has seen the queue; a fresh one for every step.
  struct Cursor {
    int open = 0;  // the prompt layers before it have no chunk left to take
    int late = 0;  // so many late layers have none left either
    int used = 0;  // the layers before it are used up
  };
  using RunChunk = base::FunctionRef<void(int layer, int chunk)>;  // chunk: 0 ... of that layer
  // Takes chunks of ready prompt layers while there are any, and then a late one; or of each prompt layer no more than
  // a fair share. Whether it took one. A share is for threads with more of their own to do: whoever comes to a large
  // layer first must not be left with all of it and make the others wait in the end.
  enum class Take { all, share };
  bool help(Cursor& cursor, Take take, RunChunk run);
  // Whether all layers before `layer` are used up.
  bool used_before(int layer, Cursor& cursor) const;
  // Somebody failed: nobody shall wait any longer.
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
