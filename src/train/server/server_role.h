// ServerRole: a parameter server that does what the helm orders. It has a thread of its own, or a whole process.
#pragma once

#include "comm/group/group.h"
#include "strategy/phases.h"
#include "strategy/server/server.h"
#include "train/messages/orders.h"

namespace trireme::train {

class ServerRole {
 public:
  ServerRole(comm::Group& group, const strategy::RoleMap& roles, int server, std::vector<strategy::Phase> phases,
             std::shared_ptr<const optim::Optimizer> optimizer, double max_norm);

  // Until the helm says that it is over.
  void follow_orders();
  // Whether what it does, or did last, can go on without a worker that is gone; then with fewer of them.
  bool outlives_workers() const { return phases_[phase_].traits().outlives_workers; }
  void regroup(const strategy::RoleMap& roles, std::vector<strategy::Phase> phases);

 private:
  void serve(const ComputeOrder& order);
  void hand_over(const HandOverOrder& order);
  void give_state();

  comm::Group& group_;
  std::vector<strategy::Phase> phases_;
  std::size_t phase_ = 0;        // of the last order to compute
  std::size_t state_phase_ = 0;  // whose strategy says where the state lies
  strategy::Server server_;
};

}  // namespace trireme::train
