// Mesh: from the list of members to a link with each: shared memory inside a host, TCP between hosts.
#pragma once

#include <memory>
#include <vector>

#include "comm/alarm.h"
#include "comm/door.h"
#include "comm/join.h"
#include "comm/member.h"
#include "comm/port.h"

namespace trireme::comm {

// Called by all members; `door` takes connections of other hosts, `local_door` those of this one.
std::unique_ptr<Port> make_mesh(const JoinOptions& options, const std::vector<Member>& members, Door& door,
                                Door& local_door, std::shared_ptr<Alarm> alarm);

}  // namespace trireme::comm
