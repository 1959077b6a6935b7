// Mesh: from the list of members to a link with each: shared memory inside a host, TCP between hosts.
#pragma once

#include <memory>
#include <vector>

#include "comm/alarm.h"
#include "comm/door.h"
#include "comm/join.h"
#include "comm/member.h"
#include "comm/port.h"
#include "comm/window.h"

namespace trireme::comm {

struct Mesh {
  std::unique_ptr<Port> port;
  std::shared_ptr<HostMemory> memory;  // where all ranks are on this host
};

// Called by all members; `door` takes connections of other hosts, `local_door` those of this one.
Mesh make_mesh(const JoinOptions& options, const std::vector<Member>& members, Door& door, Door& local_door,
               std::shared_ptr<Alarm> alarm);

}  // namespace trireme::comm
