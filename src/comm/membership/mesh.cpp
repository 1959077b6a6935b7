#include "comm/membership/mesh.h"

#include <fmt/format.h>
#include <poll.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <thread>

#include "base/error.h"
#include "base/system/clock.h"
#include "comm/transport/shared_memory/shared_host.h"
#include "comm/transport/shared_memory/shared_segment.h"
#include "comm/transport/tcp/authenticated_link.h"
#include "comm/transport/tcp/socket_link.h"

namespace trireme::comm {
namespace {

constexpr int kLookAtAlarmMs = 50;
constexpr double kFirstTrySeconds = 0.5;
constexpr std::chrono::milliseconds kBetweenTries{20};
constexpr std::size_t kSets = kLinkSets;

// An expected connection.
struct Awaited {
  int rank = 0;
  std::size_t link_set = 0;
};

constexpr std::size_t kMailboxSet = 2;
// Messages up to these sizes are authenticated as a whole. Orders, reports and texts go through the mailbox; short
// messages of collectives carry what ranks decide together.
constexpr std::size_t kControlOfMailbox = (std::size_t{16} << 10) + kAuthenticHead;
constexpr std::size_t kControlOfCollectives = std::size_t{512} + kAuthenticHead;

class Builder {
 public:
  Builder(const JoinOptions& options, const MembershipView& view)
      : options_(options),
        generation_(view.generation),
        members_(view.members),
        alarm_(view.alarm),
        deadline_ns_(base::in_seconds(options.join_seconds)),
        sockets_(view.members.size()) {
    for (const Member& member : members_)
      if (is_here(member.rank)) here_.push_back(member.rank);
  }

  Mesh build(Listener& listener, Listener& local_listener) {
    const auto host = std::make_shared<SharedHost>(options_.rank, here_, kSets, local_sockets(local_listener),
                                                   options_.join_seconds, alarm_);
    connect_hosts(listener);
    return {links(host, 0), links(host, 1), links(host, kMailboxSet), is_one_host() ? host : nullptr};
  }

 private:
  bool is_here(int rank) const {
    const auto at = [&](int one) { return members_[static_cast<std::size_t>(one)].host_mark; };
    return rank == options_.rank || (!options_.only_tcp && at(rank) == at(options_.rank));
  }
  bool is_one_host() const { return here_.size() == members_.size(); }
  // For each rank the number of its host; ranks that must not share memory count as separate hosts.
  std::vector<int> hosts() const {
    std::vector<int> all;
    for (std::size_t rank = 0; rank < members_.size(); ++rank) {
      std::size_t first = rank;
      for (std::size_t other = 0; other < rank && !options_.only_tcp; ++other)
        if (members_[other].host_mark == members_[rank].host_mark) first = std::min(first, other);
      all.push_back(static_cast<int>(first));
    }
    return all;
  }
  // Identifies a connection; the generation tells apart connections of earlier groups.
  std::string hello_of(int rank, std::size_t link_set) const {
    return fmt::format("group {} rank {} port {}", generation_, rank, link_set);
  }

  LinkSet links(const std::shared_ptr<SharedHost>& host, std::size_t link_set) {
    const SharedSegment segment = host->segment(link_set);
    std::vector<std::unique_ptr<Link>> links(members_.size());
    for (std::size_t i = 0; i < here_.size(); ++i)
      if (here_[i] != options_.rank)
        links[static_cast<std::size_t>(here_[i])] = segment.link(host->place(), static_cast<int>(i));
    for (std::size_t rank = 0; rank < links.size(); ++rank)
      if (Socket& socket = sockets_[rank][link_set]; socket.is_open())
        links[rank] = link_over(std::move(socket), link_set);
    return {options_.rank,
            host,
            std::move(links),
            segment.wakeup(host->place()),
            alarm_,
            hosts(),
            options_.deadline_seconds,
            is_one_host() ? std::optional(segment.barrier(host->place())) : std::nullopt};
  }

  // A TLS connection needs no AuthenticatedLink: TLS authenticates every byte.
  static std::unique_ptr<Link> link_over(Socket socket, std::size_t link_set) {
    if (socket.tls() != nullptr) return std::make_unique<SocketLink>(std::move(socket));
    return std::make_unique<AuthenticatedLink>(std::move(socket),
                                               link_set == kMailboxSet ? kControlOfMailbox : kControlOfCollectives);
  }

  // Waits until all awaited ranks have connected to the listener; the error names one that has not.
  template <class Take>
  void await(Listener& listener, std::vector<Awaited> awaited, const Take& take) const {
    std::vector<pollfd> polls;
    while (!awaited.empty()) {
      for (Guest& guest : listener.accept_authenticated()) {
        const auto found = std::find_if(awaited.begin(), awaited.end(), [&](const Awaited& one) {
          return hello_of(one.rank, one.link_set) == guest.hello;
        });
        if (found == awaited.end()) continue;
        take(*found, std::move(guest.socket));
        awaited.erase(found);
      }
      if (awaited.empty()) return;
      fail_if_alarmed();
      if (base::now_ns() >= deadline_ns_)
        base::run_error("rank {}, joining: {} did not connect to {} within {:g} s; can it reach that address?",
                        options_.rank, describe(members_[static_cast<std::size_t>(awaited[0].rank)]),
                        to_text(members_[static_cast<std::size_t>(options_.rank)].address), options_.join_seconds);
      polls.clear();
      listener.add_polls(polls);
      poll(polls.data(), polls.size(), kLookAtAlarmMs);
    }
  }

  // Sockets between the lowest rank of this host and all others of it.
  std::vector<Socket> local_sockets(Listener& local_listener) const {
    std::vector<Socket> sockets;
    if (here_[0] == options_.rank) {
      std::vector<Awaited> awaited;
      for (const int rank : here_)
        if (rank != options_.rank) awaited.push_back({rank, 0});
      await(local_listener, awaited, [&](const Awaited&, Socket socket) { sockets.push_back(std::move(socket)); });
    } else {
      const Member& lowest = members_[static_cast<std::size_t>(here_[0])];
      sockets.push_back(go_to(lowest, lowest.local, 0));
    }
    return sockets;
  }

  // Tries with growing timeouts, and checks the failure state between them: it may say that this rank or the peer is
  // lost, and then the peer never answers.
  Socket go_to(const Member& member, const Address& address, std::size_t link_set) const {
    for (double seconds = kFirstTrySeconds;; seconds *= 2) {
      const std::int64_t until_ns = std::min(deadline_ns_, base::in_seconds(seconds));
      try {
        return enter(
            address, {options_.token, options_.tls && !address.is_local()},
            [&](const Socket&) { return hello_of(options_.rank, link_set); }, describe(member), until_ns);
      } catch (const base::Error&) {
        fail_if_alarmed();
        if (base::now_ns() >= deadline_ns_) throw;
      }
      std::this_thread::sleep_for(kBetweenTries);
    }
  }

  void fail_if_alarmed() const {
    if (alarm_->is_raised()) base::run_error("rank {}, joining: {}", options_.rank, alarm_->sentence());
  }

  // Connects to lower ranks and accepts higher ones.
  void connect_hosts(Listener& listener) {
    std::vector<Awaited> awaited;
    for (const Member& member : members_) {
      if (is_here(member.rank)) continue;
      for (std::size_t link_set = 0; link_set < kSets; ++link_set)
        if (member.rank > options_.rank)
          awaited.push_back({member.rank, link_set});
        else
          sockets_[static_cast<std::size_t>(member.rank)][link_set] = go_to(member, member.address, link_set);
    }
    await(listener, awaited, [&](const Awaited& one, Socket socket) {
      sockets_[static_cast<std::size_t>(one.rank)][one.link_set] = std::move(socket);
    });
  }

  const JoinOptions& options_;
  int generation_;
  const std::vector<Member>& members_;
  std::shared_ptr<FailureState> alarm_;
  std::int64_t deadline_ns_;
  std::vector<int> here_;                           // ranks that share memory with this one, itself included
  std::vector<std::array<Socket, kSets>> sockets_;  // to ranks of other hosts, one per link set
};

}  // namespace

Mesh make_mesh(const JoinOptions& options, const MembershipView& view, Listener& listener, Listener& local_listener) {
  return Builder(options, view).build(listener, local_listener);
}

}  // namespace trireme::comm
