// The norm of a gradient whose parts lie on several servers, with the bits of Updater::clip.
#pragma once

#include <atomic>
#include <span>
#include <vector>

#include "comm/mailbox/mailbox.h"
#include "strategy/common/role_map.h"

namespace trireme::strategy {

// Called by every server that has chunks, once in a step, with the sums of squares of its chunks; all get the factor to
// clip by. `chunks_of` counts every server's chunks. The first of them asks the others one by one, so that none sends
// before it is waited for.
double clip_over_servers(comm::Mailbox& mailbox, const RoleMap& roles, int server,
                         const std::vector<std::int64_t>& chunks_of, std::span<const double> squares, double max_norm,
                         const std::atomic<bool>& stop);

}  // namespace trireme::strategy
