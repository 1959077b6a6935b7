// GroupServices: what a rank of a group of processes needs beside its links, for as long as it works with others:
// listeners for those who connect, its membership, and the arbiter where it is here.
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
  Group form_again();  // one of those who are left

 private:
  Group form(const MembershipView& view);
  Member self(int rank) const;
  Address listener_address() const;
  // Where the arbiter is gone: the first of the others that can be reached becomes it.
  MembershipView elect();

  JoinOptions options_;
  std::string local_name_;
  Listener listener_, local_listener_;
  std::unique_ptr<FailureDetector> arbiter_;
  std::unique_ptr<Membership> membership_;
  MembershipView view_;
};

}  // namespace trireme::comm
