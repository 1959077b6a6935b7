#include "comm/mesh.h"

#include <fmt/format.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>

#include "base/clock.h"
#include "base/error.h"
#include "comm/board.h"
#include "comm/link.h"
#include "comm/socket_link.h"

namespace trireme::comm {
namespace {

constexpr std::size_t kRing = std::size_t{256} << 10;
constexpr int kLookAtAlarmMs = 50;

// The board of this host: memory and bells. The lowest rank makes it and hands it to the others.
struct HostBoard {
  Socket memory;
  std::vector<Socket> bells;
  std::size_t bytes = 0;
  void* mapped = MAP_FAILED;

  ~HostBoard() {
    if (mapped != MAP_FAILED) munmap(mapped, bytes);
  }
  Board board() const {
    std::vector<int> numbers;
    for (const Socket& bell : bells) numbers.push_back(bell.descriptor());
    return {mapped, static_cast<int>(bells.size()), kRing, numbers};
  }
};

class Builder {
 public:
  Builder(const JoinOptions& options, const std::vector<Member>& members, Alarm& alarm)
      : options_(options),
        members_(members),
        alarm_(alarm),
        deadline_ns_(base::now_ns() + static_cast<std::int64_t>(options.join_seconds * 1e9)),
        links_(members.size()) {
    for (const Member& member : members)
      if (is_here(member.rank)) here_.push_back(member.rank);
  }

  std::unique_ptr<Port> build(Door& door, Door& local_door, std::shared_ptr<Alarm> alarm) {
    const auto host = share_memory(local_door);
    const Board board = host->board();
    for (std::size_t i = 0; i < here_.size(); ++i)
      if (here_[i] != options_.rank)
        links_[static_cast<std::size_t>(here_[i])] = board.link(place_here(options_.rank), static_cast<int>(i));
    connect_hosts(door);
    return std::make_unique<Port>(options_.rank, std::move(links_), board.bell(place_here(options_.rank)),
                                  std::move(alarm), options_.deadline_seconds, host);
  }

 private:
  bool is_here(int rank) const {
    const auto at = [&](int one) { return members_[static_cast<std::size_t>(one)].host_mark; };
    return rank == options_.rank || (!options_.only_tcp && at(rank) == at(options_.rank));
  }
  int place_here(int rank) const {
    return static_cast<int>(std::find(here_.begin(), here_.end(), rank) - here_.begin());
  }
  std::string hello() const { return std::to_string(options_.rank); }

  // Until all awaited ranks came to the door; one that does not is named.
  template <class Take>
  void await(Door& door, std::vector<int> awaited, const Take& take) const {
    std::vector<pollfd> polls;
    while (!awaited.empty()) {
      for (Guest& guest : door.let_in()) {
        int rank = -1;
        std::from_chars(guest.hello.data(), guest.hello.data() + guest.hello.size(), rank);
        if (std::erase(awaited, rank) > 0) take(rank, std::move(guest.socket));
      }
      if (awaited.empty()) return;
      if (alarm_.is_raised()) base::run_error("rank {}, joining: {}", options_.rank, alarm_.sentence());
      if (base::now_ns() >= deadline_ns_)
        base::run_error("rank {}, joining: {} did not connect to {} within {:g} s; can it reach that address?",
                        options_.rank, describe(members_[static_cast<std::size_t>(awaited[0])]),
                        to_text(members_[static_cast<std::size_t>(options_.rank)].address), options_.join_seconds);
      polls.clear();
      door.add_polls(polls);
      poll(polls.data(), polls.size(), kLookAtAlarmMs);
    }
  }

  std::shared_ptr<HostBoard> share_memory(Door& local_door) {
    auto host = std::make_shared<HostBoard>();
    host->bytes = Board::bytes_for(static_cast<int>(here_.size()), kRing);
    host->bells.resize(here_.size());
    if (here_[0] == options_.rank)
      make(*host, local_door);
    else
      fetch(*host);
    host->mapped = mmap(nullptr, host->bytes, PROT_READ | PROT_WRITE, MAP_SHARED, host->memory.descriptor(), 0);
    if (host->mapped == MAP_FAILED)
      base::run_error("rank {}: cannot map {} bytes of shared memory: {}", options_.rank, host->bytes,
                      std::strerror(errno));
    return host;
  }

  void make(HostBoard& host, Door& local_door) {
    host.memory = Socket(memfd_create("trireme", MFD_CLOEXEC));
    if (!host.memory.is_open() || ftruncate(host.memory.descriptor(), static_cast<off_t>(host.bytes)) != 0)
      base::run_error("rank {}: no shared memory of {} bytes: {}", options_.rank, host.bytes, std::strerror(errno));
    std::vector<int> all{host.memory.descriptor()};
    for (Socket& bell : host.bells) {
      bell = Socket(eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC));
      if (!bell.is_open()) base::run_error("rank {}: no eventfd: {}", options_.rank, std::strerror(errno));
      all.push_back(bell.descriptor());
    }
    await(local_door, {here_.begin() + 1, here_.end()},
          [&](int, const Socket& socket) { send_descriptors(socket, all, deadline_ns_); });
  }

  void fetch(HostBoard& host) {
    const Member& first = members_[static_cast<std::size_t>(here_[0])];
    const Socket socket = enter(
        first.local, options_.token, [&](const Socket&) { return hello(); }, describe(first), deadline_ns_);
    std::vector<Socket> all(1 + host.bells.size());
    try {
      receive_descriptors(socket, all, deadline_ns_);
    } catch (const GoneError& error) {
      base::run_error("rank {}, joining: {} is gone: {}", options_.rank, describe(first), error.what());
    }
    host.memory = std::move(all[0]);
    for (std::size_t i = 0; i < host.bells.size(); ++i) host.bells[i] = std::move(all[i + 1]);
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
  const std::vector<Member>& members_;
  Alarm& alarm_;
  std::int64_t deadline_ns_;
  std::vector<int> here_;  // ranks that share memory with this one, itself included
  std::vector<std::unique_ptr<Link>> links_;
};

}  // namespace

std::unique_ptr<Port> make_mesh(const JoinOptions& options, const std::vector<Member>& members, Door& door,
                                Door& local_door, std::shared_ptr<Alarm> alarm) {
  Builder builder(options, members, *alarm);
  return builder.build(door, local_door, std::move(alarm));
}

}  // namespace trireme::comm
