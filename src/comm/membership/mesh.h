// Mesh: from the list of members to a link with each: shared memory inside a host, TCP between hosts.
#pragma once

#include "comm/membership/join.h"
#include "comm/membership/membership.h"
#include "comm/transport/tcp/listener.h"

namespace trireme::comm {

// Called by all members of the roll; `listener` takes connections of other hosts, `local_listener` those of this one.
Mesh make_mesh(const JoinOptions& options, const MembershipView& view, Listener& listener, Listener& local_listener);

}  // namespace trireme::comm
