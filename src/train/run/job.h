// Job: one process of a run, from finding the others to the end: it joins the group, agrees with the others on what
// must be equal, takes its roles (helm, worker, server) and plays them.
#pragma once

#include <optional>
#include <string>

#include "base/text/options.h"
#include "cluster/launch_info.h"
#include "comm/transport/transport.h"
#include "strategy/common/role_map.h"
#include "train/experiment/registry.h"

namespace trireme::train {

// Who there is, as the settings say. Mistakes are user errors.
strategy::RoleMap role_map_of(const Registry& registry, const base::Settings& settings);

// Everything about the settings that can be wrong before any process is started.
void check_settings(const Registry& registry, const base::Settings& settings);

// The settings with which a run goes on, or those given.
base::Settings effective_settings(const Registry& registry, const base::Settings& given);

// Plays this process's part of a run; without launch info it is the only one. Returns the summary as one line of JSON
// in process 0, and nothing in the others.
std::string train(const Registry& registry, const base::Settings& settings,
                  const std::optional<cluster::LaunchInfo>& launch_info = std::nullopt);

}  // namespace trireme::train
