// Slurm: launch info from the environment variables that srun sets for the tasks of a step.
// Thread-safe. The rendezvous is on the step's first node, at a port hashed from job and step.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "cluster/launch_info.h"

namespace trireme::cluster {

// Returns nullopt outside of srun (an sbatch script has most of the same variables, but is not a numbered step), and in
// a step of one task.
//
// Without TRIREME_TOKEN the token is derived from job, step and a secret in the user's home folder (user_secret.h),
// which all nodes must share. In a step on one node the rendezvous is on the loopback address.
std::optional<LaunchInfo> slurm_launch_info(const Environment& environment);

// "node[3-5,7],b1" -> "node3". A list that cannot be read is a user error.
std::string first_node(std::string_view list);

}  // namespace trireme::cluster
