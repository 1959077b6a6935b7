// GroupServices: the listeners, the membership and, if it runs here, the failure detector of a rank.
// One caller at a time.
// It lives as long as the rank works in groups: a group that forms again after a failure uses the same services.
#pragma once

#include <memory>
#include <string>

#include "comm/membership/join.h"
#include "comm/membership/membership.h"
#include "comm/transport/tcp/listener.h"

namespace trireme::comm {

class GroupServices {
 public:
  explicit GroupServices(const JoinOptions& options);

  Group form();        // the first group
  Group form_again();  // a group of the survivors
  // Of this rank, against rank 0's; measured again all the time. Thread-safe while no group forms.
  base::ClockModel clock() const;

 private:
  Group form(const MembershipView& view);
  Member self(int rank) const;
  Address listener_address() const;
  // For when the failure detector is gone: the first other rank that can be reached starts a new one.
  MembershipView elect();

  JoinOptions options_;
  std::string local_name_;
  Listener listener_, local_listener_;
  std::unique_ptr<FailureDetector> arbiter_;
  std::unique_ptr<Membership> membership_;
  MembershipView view_;
};

}  // namespace trireme::comm
