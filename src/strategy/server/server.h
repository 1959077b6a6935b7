// Server: a parameter server; holds a shard of the weights with the optimizer's state and serves the workers.
// One caller at a time.
//
// Call its functions when the workers call their counterparts (strategy/server/hand_over.h, strategy/ps/ps.h). Waits
// have no deadline of their own: when a rank fails, the group's alarm ends all waits with an error that names it.
#pragma once

#include <algorithm>
#include <memory>
#include <span>
#include <vector>

#include "comm/group/group.h"
#include "observe/trace/span_recorder.h"
#include "strategy/common/role_map.h"
#include "strategy/common/state_map.h"
#include "strategy/server/shard.h"

namespace trireme::strategy {

struct ServeOptions {
  // One update per step, from all workers' partials along the oar tree; otherwise every push is applied at once.
  bool synchronous = true;
  // Synchronous only: the server returns the summed gradient instead of weights, and the workers update. The server's
  // shard is not used then: give_back() makes the workers keep their own weights, and take_over() may be left out.
  bool returns_gradients = false;
  std::vector<int> workers{};              // the workers that push; empty: all
  observe::SpanRecorder* spans = nullptr;  // Server::serve() sets it
};

// The server's side of one interval of steps.
class ServerSide {
 public:
  virtual ~ServerSide() = default;
  // Returns when every worker has ended the interval; throws the first failure.
  virtual void run() = 0;
  // The largest step that was pushed; 0: none.
  virtual std::int64_t last_step() const = 0;
};

class Server {
 public:
  // max_norm 0: no clipping.
  Server(comm::Group& group, const RoleMap& roles, int server, std::shared_ptr<const optim::Optimizer> optimizer,
         double max_norm);
  ~Server();

  void take_over();  // receives shard and state from worker 0
  // Makes the object that serves the next interval. It refers to this server.
  std::unique_ptr<ServerSide> serve(const ServeOptions& options);
  void give_back();  // sends shard and state to all workers
  // Call after the group was formed again with fewer workers. The shard stays.
  void regroup(const RoleMap& roles) { roles_ = roles; }
  // Who gets the spans of what it serves from now on; null: nobody.
  void record_spans(observe::SpanRecorder* spans) { spans_ = spans; }

  // The part of the state that it holds. REQUIRES: take_over() was called, here and below.
  StatePiece holds() const { return {roles_.process_of_server(server_), shard_->map().floats, version_}; }
  // Declares that the shard includes all steps up to this one.
  void set_version(std::int64_t step) { version_ = step; }
  // The same, unless the shard includes a later step already.
  void raise_version(std::int64_t step) { version_ = std::max(version_, step); }
  std::span<const float> weights() const { return shard_->weights(); }
  OptimizerState& state() { return shard_->state(); }
  // Captures the updates of this step; 0: of none.
  void watch(std::int64_t step) {
    if (shard_) shard_->state().watch(step);
  }
  // Null if this server has captured nothing.
  const UpdateCapture* captured() const { return shard_ ? shard_->state().captured() : nullptr; }

 private:
  comm::Group& group_;
  RoleMap roles_;
  int server_;
  std::shared_ptr<const optim::Optimizer> optimizer_;
  double max_norm_;
  observe::SpanRecorder* spans_ = nullptr;
  std::unique_ptr<Shard> shard_;
  bool is_current_ = false;   // the shard is as new as the workers' weights
  std::int64_t version_ = 0;  // the last step that the shard includes
};

}  // namespace trireme::strategy
