#include "comm/join.h"

#include <fmt/format.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/error.h"
#include "comm/membership.h"
#include "comm/mesh.h"

namespace trireme::comm {
namespace {

// What lives as long as the group; the arbiter, where it is here, goes last.
struct Company {
  std::unique_ptr<Arbiter> arbiter;
  std::unique_ptr<Membership> membership;
};

}  // namespace

Group join(const JoinOptions& options) {
  if (options.world < 1 || options.rank < 0 || options.rank >= options.world)
    base::user_error("rank {} of {} ranks; ranks are 0 to {}", options.rank, options.world, options.world - 1);
  auto company = std::make_shared<Company>();
  JoinOptions own = options;
  if (options.rank == 0) {
    company->arbiter =
        std::make_unique<Arbiter>(options.address, options.token, options.world, options.program, options.patience);
    own.address = company->arbiter->address();
  }
  const std::string local_name = fmt::format("@trireme-{}-{}", getpid(), base::now_ns());
  Door door(listen_on({"", 0}), options.token), local_door(listen_on({local_name, 0}), options.token);
  company->membership = std::make_unique<Membership>(own, door, local_name);
  Mesh mesh = make_mesh(own, company->membership->members(), door, local_door, company->membership->alarm());
  return Group(std::move(mesh.port), std::move(mesh.memory), company);
}

}  // namespace trireme::comm
