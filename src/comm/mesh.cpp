#include "comm/mesh.h"

#include <fmt/format.h>
#include <poll.h>

#include <algorithm>

#include "base/clock.h"
#include "base/error.h"
#include "comm/board.h"
#include "comm/shared_host.h"
#include "comm/socket_link.h"

namespace trireme::comm {
namespace {

constexpr int kLookAtAlarmMs = 50;

class Builder {
 public:
  Builder(const JoinOptions& options, const Roll& roll)
      : options_(options),
        generation_(roll.generation),
        members_(roll.members),
        alarm_(roll.alarm),
        deadline_ns_(base::now_ns() + static_cast<std::int64_t>(options.join_seconds * 1e9)),
        links_(roll.members.size()) {
    for (const Member& member : members_)
      if (is_here(member.rank)) here_.push_back(member.rank);
  }

  Mesh build(Door& door, Door& local_door) {
    const auto host =
        std::make_shared<SharedHost>(options_.rank, here_, local_sockets(local_door), options_.join_seconds);
    const Board board = host->board();
    for (std::size_t i = 0; i < here_.size(); ++i)
      if (here_[i] != options_.rank)
        links_[static_cast<std::size_t>(here_[i])] = board.link(host->place(), static_cast<int>(i));
    connect_hosts(door);
    return {std::make_unique<Port>(options_.rank, std::move(links_), board.bell(host->place()), alarm_,
                                   options_.deadline_seconds, host),
            here_.size() == members_.size() ? host : nullptr};
  }

 private:
  bool is_here(int rank) const {
    const auto at = [&](int one) { return members_[static_cast<std::size_t>(one)].host_mark; };
    return rank == options_.rank || (!options_.only_tcp && at(rank) == at(options_.rank));
  }
  // Whose connection this is, so that none of an earlier group is mistaken for one of this.
  std::string hello() const { return hello_of(options_.rank); }
  std::string hello_of(int rank) const { return fmt::format("group {} rank {}", generation_, rank); }

  // Until all awaited ranks came to the door; one that does not is named.
  template <class Take>
  void await(Door& door, std::vector<int> awaited, const Take& take) const {
    std::vector<pollfd> polls;
    while (!awaited.empty()) {
      for (Guest& guest : door.let_in()) {
        const auto found =
            std::find_if(awaited.begin(), awaited.end(), [&](int rank) { return hello_of(rank) == guest.hello; });
        if (found == awaited.end()) continue;
        take(*found, std::move(guest.socket));
        awaited.erase(found);
      }
      if (awaited.empty()) return;
      if (alarm_->is_raised()) base::run_error("rank {}, joining: {}", options_.rank, alarm_->sentence());
      if (base::now_ns() >= deadline_ns_)
        base::run_error("rank {}, joining: {} did not connect to {} within {:g} s; can it reach that address?",
                        options_.rank, describe(members_[static_cast<std::size_t>(awaited[0])]),
                        to_text(members_[static_cast<std::size_t>(options_.rank)].address), options_.join_seconds);
      polls.clear();
      door.add_polls(polls);
      poll(polls.data(), polls.size(), kLookAtAlarmMs);
    }
  }

  // From the lowest rank of this host to all others of it.
  std::vector<Socket> local_sockets(Door& local_door) const {
    std::vector<Socket> sockets;
    if (here_[0] == options_.rank) {
      await(local_door, {here_.begin() + 1, here_.end()},
            [&](int, Socket socket) { sockets.push_back(std::move(socket)); });
      return sockets;
    }
    const Member& lowest = members_[static_cast<std::size_t>(here_[0])];
    sockets.push_back(enter(
        lowest.local, options_.token, [&](const Socket&) { return hello(); }, describe(lowest), deadline_ns_));
    return sockets;
  }

  // To lower ranks; higher ones come here.
  void connect_hosts(Door& door) {
    std::vector<int> awaited;
    for (const Member& member : members_) {
      if (is_here(member.rank)) continue;
      if (member.rank > options_.rank) {
        awaited.push_back(member.rank);
        continue;
      }
      Socket socket = enter(
          member.address, options_.token, [&](const Socket&) { return hello(); }, describe(member), deadline_ns_);
      links_[static_cast<std::size_t>(member.rank)] = std::make_unique<SocketLink>(socket.release());
    }
    await(door, awaited, [&](int rank, Socket socket) {
      links_[static_cast<std::size_t>(rank)] = std::make_unique<SocketLink>(socket.release());
    });
  }

  const JoinOptions& options_;
  int generation_;
  const std::vector<Member>& members_;
  std::shared_ptr<Alarm> alarm_;
  std::int64_t deadline_ns_;
  std::vector<int> here_;  // ranks that share memory with this one, itself included
  std::vector<std::unique_ptr<Link>> links_;
};

}  // namespace

Mesh make_mesh(const JoinOptions& options, const Roll& roll, Door& door, Door& local_door) {
  return Builder(options, roll).build(door, local_door);
}

}  // namespace trireme::comm
