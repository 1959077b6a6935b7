// clip_over_servers(): the clipping factor of a gradient that is spread over several servers.
// One caller at a time per server. The factor has the bits of Updater::clip.
#pragma once

#include <atomic>
#include <span>
#include <vector>

#include "comm/mailbox/mailbox.h"
#include "strategy/common/role_map.h"

namespace trireme::strategy {

// Every server that has chunks calls it once per step, with the sum of squares of each of its chunks (`squares`); all
// get the same factor. `chunks_of`: the number of chunks of each server. The first server with chunks asks the others
// one by one, so no server sends before its message is awaited.
double clip_over_servers(comm::Mailbox& mailbox, const RoleMap& roles, int server,
                         const std::vector<std::int64_t>& chunks_of, std::span<const double> squares, double max_norm,
                         const std::atomic<bool>& stop);

}  // namespace trireme::strategy
