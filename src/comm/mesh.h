// Mesh: from the list of members to a link with each: shared memory inside a host, TCP between hosts.
#pragma once

#include <memory>

#include "comm/door.h"
#include "comm/join.h"
#include "comm/membership.h"
#include "comm/port.h"
#include "comm/window.h"

namespace trireme::comm {

struct Mesh {
  std::unique_ptr<Port> port;
  std::shared_ptr<HostMemory> memory;  // where all ranks are on this host
};

// Called by all members of the roll; `door` takes connections of other hosts, `local_door` those of this one.
Mesh make_mesh(const JoinOptions& options, const Roll& roll, Door& door, Door& local_door);

}  // namespace trireme::comm
