// Agreement: exchanges settings, data hashes and kernel fingerprints between the processes of a run before the first
// step, so that differences are found and named then, and an error of one process ends all with its message.
// Every function is a collective: all processes call the same functions in the same order, one at a time.
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

  // Runs `part` on all processes; if it throws on some, all throw the error of the first of these.
  void together(const std::function<void()>& part);
  std::string broadcast(std::string text);  // from process 0
  std::vector<int> gather(int value);       // one value per process
  std::vector<std::int64_t> gather(std::int64_t value);
  std::vector<std::string> gather(const std::string& text);  // texts are cut after 511 bytes

  std::vector<std::string> hosts();
  // The workers that share this process's cores: those of this host that may run on the same cores.
  HostNeighbours neighbours(const strategy::RoleMap& roles);
  // The best instruction set that all processes have and `wanted` allows.
  std::string isa(const std::string& wanted);
  // A difference to worker 0 is a user error that names the process. An empty hash is not compared.
  void same_data(const std::string& hash, const strategy::RoleMap& roles, const std::vector<std::string>& hosts);
  // The same for kernel fingerprints. REQUIRES: collectives of the group include the workers only, who all call it.
  void same_kernels(const std::vector<graph::KernelPrint>& prints, bool allow_others, const strategy::RoleMap& roles,
                    const std::vector<std::string>& hosts);

 private:
  comm::Group& group_;
};

}  // namespace trireme::train
