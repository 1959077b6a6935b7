// ServerRole: a parameter server that does what the helm orders. It has a thread of its own, or a whole process.
#pragma once

#include "comm/group.h"
#include "strategy/phases.h"
#include "strategy/server.h"

namespace trireme::train {

class ServerRole {
 public:
  ServerRole(comm::Group& group, const strategy::Cast& cast, int server, std::vector<strategy::Phase> phases,
             std::shared_ptr<const optim::Optimizer> optimizer, double max_norm);

  // Until the helm says that it is over.
  void follow_orders();
  // Whether what it does, or did last, can go on without a worker that is gone; then with fewer of them.
  bool outlives_workers() const { return phases_[phase_].traits().outlives_workers; }
  void regroup(const strategy::Cast& cast, std::vector<strategy::Phase> phases);

 private:
  void give_state();

  comm::Group& group_;
  std::vector<strategy::Phase> phases_;
  std::size_t phase_ = 0;
  strategy::Server server_;
};

}  // namespace trireme::train
