// Server: holds a shard of the weights with the optimizer's state, and serves the workers. Its functions are called
// when the workers call their counterparts in strategy/ps/ps.h. Every wait lasts as long as all live: a rank that is
// gone raises the group's alarm, which ends all waits with its sentence.
#pragma once

#include <algorithm>
#include <memory>
#include <span>
#include <vector>

#include "comm/group/group.h"
#include "strategy/common/role_map.h"
#include "strategy/common/state_map.h"
#include "strategy/server/shard.h"

namespace trireme::strategy {

struct ServeOptions {
  // One update per step, from all workers' partials along the oar tree; otherwise every push is applied at once.
  bool synchronous = true;
  // Of synchronous ones: the summed gradient goes back instead of weights; workers update themselves. What a server
  // holds is then of no use, and give_back() leaves the workers theirs; handing over may be left out.
  bool returns_gradients = false;
  std::vector<int> workers{};  // that push; none given: all
};

// The server's side of one interval of steps.
class ServerSide {
 public:
  virtual ~ServerSide() = default;
  // Returns when every worker has ended the interval; throws the first failure.
  virtual void run() = 0;
  // The last step that was pushed; 0: none.
  virtual std::int64_t last_step() const = 0;
};

class Server {
 public:
  // max_norm 0: no clipping.
  Server(comm::Group& group, const RoleMap& roles, int server, std::shared_ptr<const optim::Optimizer> optimizer,
         double max_norm);
  ~Server();

  void take_over();  // shard and state from worker 0
  // What serves the next interval; uses this object.
  std::unique_ptr<ServerSide> serve(const ServeOptions& options);
  void give_back();  // shard and state to all workers
  // The group formed again, with fewer workers; what the server holds stays.
  void regroup(const RoleMap& roles) { roles_ = roles; }

  // What it holds; after take_over().
  StatePiece holds() const { return {roles_.process_of_server(server_), shard_->map().floats, version_}; }
  // What it holds is the state after this step.
  void set_version(std::int64_t step) { version_ = step; }
  // The same after pushes of steps up to this one.
  void raise_version(std::int64_t step) { version_ = std::max(version_, step); }
  std::span<const float> weights() const { return shard_->weights(); }
  OptimizerState& state() { return shard_->state(); }

 private:
  comm::Group& group_;
  RoleMap roles_;
  int server_;
  std::shared_ptr<const optim::Optimizer> optimizer_;
  double max_norm_;
  std::unique_ptr<Shard> shard_;
  bool is_current_ = false;   // the shard is as new as the workers' weights
  std::int64_t version_ = 0;  // of the shard
};

}  // namespace trireme::strategy
