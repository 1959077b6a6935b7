// Slurm: what srun tells the tasks of a step. Ranks meet on the step's first node, at a port that follows from job and
// step.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "cluster/launch_info.h"

namespace trireme::cluster {

// Nothing outside of srun (an sbatch script has most of the same variables, but is no step) and in a step of one task.
//
// Without TRIREME_TOKEN the token is derived from job, step and a secret in the user's home folder (user_secret.h),
// which all nodes must share. Ranks of one node meet on its loopback address.
std::optional<LaunchInfo> slurm_launch_info(const Environment& environment);

// "node[3-5,7],b1" -> "node3". A list that cannot be read is a user error.
std::string first_node(std::string_view list);

}  // namespace trireme::cluster
