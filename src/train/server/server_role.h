// ServerRole: a parameter server that carries out the helm's orders.
// Runs in a thread of its own; without a worker its process has no other role, except the helm in process 0.
#pragma once

#include <functional>

#include "comm/group/group.h"
#include "strategy/phases.h"
#include "strategy/server/server.h"
#include "train/messages/orders.h"

namespace trireme::train {

class ServerRole {
 public:
  ServerRole(comm::Group& group, const strategy::RoleMap& roles, int server, std::vector<strategy::Phase> phases,
             std::shared_ptr<const optim::Optimizer> optimizer, double max_norm, observe::SpanRecorder* spans,
             std::function<void()> send_spans);

  // Returns when the helm has ordered the end.
  void follow_orders();
  // True when the current (or last) interval can go on after the loss of a worker.
  bool outlives_workers() const { return phases_[phase_].traits().outlives_workers; }
  // Call after a loss, with the remaining workers.
  void regroup(const strategy::RoleMap& roles, std::vector<strategy::Phase> phases);

 private:
  void serve(const ComputeOrder& order);
  void hand_over(const HandOverOrder& order);
  void give_state();

  comm::Group& group_;
  std::function<void()> send_spans_;  // to the helm, all of the last seconds
  std::vector<strategy::Phase> phases_;
  std::size_t phase_ = 0;        // of the last ComputeOrder
  std::size_t state_phase_ = 0;  // the phase whose strategy determines the owner of the state
  strategy::Server server_;
};

}  // namespace trireme::train
