// join(): forms a group of processes. They meet at the rendezvous, an address at which rank 0 listens, in any order.
// One caller per process at a time.
// Ranks of one host communicate through shared memory, others over TCP.
#pragma once

#include <optional>
#include <string>

#include "base/system/clock_model.h"
#include "comm/group/group.h"
#include "comm/membership/join_request.h"

namespace trireme::comm {

struct JoinOptions : JoinRequest {
  bool only_tcp = false;  // TCP between ranks of one host, too
};

inline Secrecy secrecy_of(const JoinOptions& options) { return {options.token, options.tls}; }

// A wrong token, world, rank or program is a user error. Ranks that do not arrive are named in a run error.
Group join(const JoinOptions& options);

// After a failure: forms a new group of the survivors. Each of them calls it with its old group, which must not be used
// any more. Ranks keep their order; a rank that fails meanwhile is left out. If rank 0 is gone, the next rank that can
// be reached takes over the rendezvous, if JoinRequest::elects allows it. Memory from allocate() belongs to the old
// group.
Group regroup(const Group& broken);

// This rank's clock against rank 0's, measured again all the time. Nothing over transports that do not compare clocks.
// Thread-safe.
std::optional<base::ClockModel> clock_of(const Group& group);

// A launcher calls this on the host of a process that it started, to report how that process ended ("was killed by
// signal 9"). If FailureTimeouts::ending_seconds is set, the report outranks a closed connection as evidence.
void report_exit(const JoinOptions& options, int process, const std::string& how);

// Whether the rendezvous answers within `seconds`.
bool is_rendezvous_held(const JoinOptions& options, double seconds);

// Part of the error of a rank that lost rank 0.
inline constexpr const char* kHoldsGroup = "which holds the group together";

}  // namespace trireme::comm
