// Job: one process of a run: it joins the group, checks with the other processes what must be equal, and runs its roles
// (helm, worker, server) until the run ends.
// train() runs once at a time in a process; the other functions are thread-safe.
#pragma once

#include <optional>
#include <string>

#include "base/text/options.h"
#include "cluster/launch_info.h"
#include "comm/transport/transport.h"
#include "strategy/common/role_map.h"
#include "train/experiment/registry.h"

namespace trireme::train {

// The workers and servers that the settings ask for. Mistakes are user errors.
strategy::RoleMap role_map_of(const Registry& registry, const base::Settings& settings);

// Checks everything in the settings that can be checked before any process is started. Mistakes are user errors.
void check_settings(const Registry& registry, const base::Settings& settings);

// The given settings; with --resume combined with those of the run. The strategy "auto" is resolved.
base::Settings effective_settings(const Registry& registry, const base::Settings& given);

// Runs this process's part of a run; without launch info it is the only process. Returns the summary as one line of
// JSON in process 0, and an empty string in the others.
std::string train(const Registry& registry, const base::Settings& settings,
                  const std::optional<cluster::LaunchInfo>& launch_info = std::nullopt);

}  // namespace trireme::train
