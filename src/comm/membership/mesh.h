// make_mesh(): connects a rank to all members of its group: shared memory inside a host, TCP between hosts.
// One caller per rank.
#pragma once

#include "comm/membership/join.h"
#include "comm/membership/membership.h"
#include "comm/transport/tcp/listener.h"

namespace trireme::comm {

// All members of the view call it. `listener` accepts ranks of other hosts, `local_listener` ranks of this host.
Mesh make_mesh(const JoinOptions& options, const MembershipView& view, Listener& listener, Listener& local_listener);

}  // namespace trireme::comm
