// GroupServices: what a rank of a group of processes needs beside its links, for as long as it works with others: doors
// for those who connect, its membership, and the arbiter where it is here.
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
  Group form(const Roll& roll);
  Member self(int rank) const;
  Address door_address() const;
  // Where the arbiter is gone: the first of the others that can be reached becomes it.
  Roll elect();

  JoinOptions options_;
  std::string local_name_;
  Listener door_, local_door_;
  std::unique_ptr<FailureDetector> arbiter_;
  std::unique_ptr<Membership> membership_;
  Roll roll_;
};

}  // namespace trireme::comm
