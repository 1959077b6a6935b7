// Agreement: what the processes of a run tell each other before the first step, so that a difference is found then and
// named, and an error of one ends all with its sentence. Everything is called by all processes in the same order.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "comm/group/group.h"
#include "graph/fingerprint.h"
#include "strategy/common/role_map.h"
#include "train/experiment/experiment.h"

namespace trireme::train {

class Agreement {
 public:
  explicit Agreement(comm::Group& group) : group_(group) {}

  // Runs `part` everywhere; where one throws, all throw what the first of them did.
  void together(const std::function<void()>& part);
  std::string broadcast(std::string text);  // of process 0
  std::vector<int> gather(int value);       // of all processes
  std::vector<std::int64_t> gather(std::int64_t value);
  std::vector<std::string> gather(const std::string& text);  // at most a few hundred characters

  std::vector<std::string> hosts();
  // Who shares this process's cores: workers on this host that may run on the same ones.
  HostNeighbours neighbours(const strategy::RoleMap& roles);
  // The instruction set that all have.
  std::string isa(const std::string& wanted);
  // A difference is a user error that names who has it.
  void same_data(const std::string& hash, const strategy::RoleMap& roles, const std::vector<std::string>& hosts);
  // Among workers.
  void same_kernels(const std::vector<graph::KernelPrint>& prints, bool allow_others, const strategy::RoleMap& roles,
                    const std::vector<std::string>& hosts);

 private:
  comm::Group& group_;
};

}  // namespace trireme::train
