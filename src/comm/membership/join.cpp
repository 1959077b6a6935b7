#include "comm/membership/join.h"

#include <fmt/format.h>
#include <unistd.h>

#include "base/error.h"
#include "base/system/clock.h"
#include "comm/membership/group_services.h"
#include "comm/membership/mesh.h"

namespace trireme::comm {
namespace {

constexpr double kReachSeconds = 2;   // to connect to a candidate that may be gone
constexpr double kSettleSeconds = 3;  // for ranks to arrive at a new arbiter

}  // namespace

GroupServices::GroupServices(const JoinOptions& options)
    : options_(options),
      local_name_(fmt::format("@trireme-{}-{}-{}", getpid(), options.rank, base::now_ns())),
      listener_(listen_on(listener_address()), secrecy_of(options), options.world),
      local_listener_(listen_on({local_name_, 0}), {options.token, false}, options.world) {}

// With a loopback rendezvous, all ranks are on this host, so the listener is on loopback, too.
Address GroupServices::listener_address() const {
  return {options_.address.is_loopback() ? options_.address.host : "", 0};
}

Member GroupServices::self(int rank) const {
  Member member = this_process();
  member.rank = rank;
  member.local = {local_name_, 0};
  return member;
}

Group GroupServices::form() {
  if (options_.rank == 0) {
    arbiter_ = std::make_unique<FailureDetector>(listen_on(options_.address), secrecy_of(options_), options_.world,
                                                 options_.program, options_.patience, options_.clock);
    options_.address.port = arbiter_->port();
  }
  const std::int64_t deadline = base::in_seconds(options_.join_seconds);
  membership_ = std::make_unique<Membership>(options_, self(options_.rank), port_of(listener_.listener()), deadline);
  return form(membership_->meet(deadline));
}

Group GroupServices::form_again() {
  for (;;) {
    const auto met = membership_->meet_again(base::in_seconds(options_.join_seconds));
    if (!met && !options_.elects)
      base::run_error("rank {}: rank 0, which held the group together, is gone", options_.rank);
    const MembershipView view = met ? *met : elect();
    try {
      return form(view);
    } catch (const base::Error&) {
      if (!view.alarm->is_raised_soon()) throw;  // otherwise another rank failed meanwhile: the rest meets again
    }
  }
}

MembershipView GroupServices::elect() {
  const MembershipView old = view_;
  const int others = static_cast<int>(old.members.size()) - 1;
  membership_.reset();
  for (const Member& candidate : old.members) {
    if (candidate.rank == 0) continue;  // it ran the last arbiter
    JoinOptions options = options_;
    options.world = static_cast<int>(old.members.size());
    options.address = candidate.address;
    if (candidate.rank == old.rank) {
      Socket listener = listener_.take_listener();
      listener_ = Listener(listen_on(listener_address()), secrecy_of(options_), options.world);
      options.address = {listener_address().host, port_of(listener)};
      arbiter_ =
          std::make_unique<FailureDetector>(std::move(listener), secrecy_of(options_), options.world, options_.program,
                                            options_.patience, options_.clock, others, kSettleSeconds);
    }
    try {
      membership_ = std::make_unique<Membership>(options, self(old.rank), port_of(listener_.listener()),
                                                 base::in_seconds(kReachSeconds + kSettleSeconds));
      return membership_->meet(base::in_seconds(options_.join_seconds));
    } catch (const base::Error&) {
      if (candidate.rank == old.rank) throw;
    }
  }
  base::run_error("rank {}: nobody of {} ranks is left to form a group with", old.rank, others + 1);
}

Group GroupServices::form(const MembershipView& view) {
  view_ = view;
  options_.rank = view.rank;
  options_.world = static_cast<int>(view.members.size());
  options_.patience.silent_seconds = view.silent_seconds;
  return Group(make_mesh(options_, view, listener_, local_listener_));
}

base::ClockModel GroupServices::clock() const { return membership_->clock(); }

std::optional<base::ClockModel> clock_of(const Group& group) {
  return group.services() ? std::optional(group.services()->clock()) : std::nullopt;
}

Group join(const JoinOptions& options) {
  if (options.world < 1 || options.rank < 0 || options.rank >= options.world)
    base::user_error("rank {} of {} ranks; ranks are 0 to {}", options.rank, options.world, options.world - 1);
  auto services = std::make_shared<GroupServices>(options);
  Group group = services->form();
  group.keep(services);
  return group;
}

void report_exit(const JoinOptions& options, int process, const std::string& how) {
  enter(
      options.address, secrecy_of(options),
      [&](const Socket&) {
        return to_json(ProcessExit{process, this_process().host, how});
      },
      "the rendezvous", base::in_seconds(kReachSeconds));
}

bool is_rendezvous_held(const JoinOptions& options, double seconds) {
  const std::int64_t deadline = base::in_seconds(seconds);
  try {
    return wait_readable(connect_to(options.address, deadline), deadline);  // the greeting
  } catch (const std::exception&) {
    return false;
  }
}

Group regroup(const Group& broken) {
  const std::shared_ptr<GroupServices>& services = broken.services();
  base::check(services != nullptr, "only a group of processes can form again");
  Group group = services->form_again();
  group.keep(services);
  return group;
}

}  // namespace trireme::comm
