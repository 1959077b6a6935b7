// ServerRole: a parameter server that does what the helm orders. It has a thread of its own, or a whole process.
#pragma once

#include "comm/group.h"
#include "strategy/server.h"
#include "strategy/spec.h"

namespace trireme::train {

class ServerRole {
 public:
  ServerRole(comm::Group& group, const strategy::Cast& cast, int server, std::vector<strategy::Phase> phases,
             std::shared_ptr<const optim::Optimizer> optimizer, double max_norm);

  // Until the helm says that it is over.
  void follow_orders();

 private:
  void give_state();

  comm::Group& group_;
  std::vector<strategy::Phase> phases_;
  strategy::Server server_;
};

}  // namespace trireme::train
