// Group: ranks that work together. It runs collectives itself, and starts others in the background; both in the same
// order on all ranks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "comm/collective/background_collectives.h"
#include "comm/collective/collectives.h"
#include "comm/mailbox/mailbox.h"
#include "comm/transport/shared_memory/shared_window.h"

namespace trireme::comm {

class GroupServices;

// A rank's links to the others: those of collectives that are waited for, of the background's, and of the mailbox.
inline constexpr int kLinkSets = 3;
struct Mesh {
  LinkSet front, back, mailbox;
  std::shared_ptr<HostMemory> memory;  // where all ranks share a host

  // One count for all.
  Mesh(LinkSet of_front, LinkSet of_back, LinkSet of_mailbox, std::shared_ptr<HostMemory> host_memory)
      : front(std::move(of_front)),
        back(std::move(of_back)),
        mailbox(std::move(of_mailbox)),
        memory(std::move(host_memory)) {
    back.traffic = mailbox.traffic = front.traffic;
  }
};

class Group : public Collectives {
 public:
  explicit Group(Mesh mesh) : Group(std::move(mesh), std::make_shared<WindowSet>()) {}

  // What must live as long as the group.
  void keep(std::shared_ptr<GroupServices> services) { services_ = std::move(services); }
  const std::shared_ptr<GroupServices>& services() const { return services_; }

  // Of every wait in which nothing moves, from now on.
  void set_deadline(double seconds);

  // Memory, zero at first, that all-reduces work on where it lies instead of sending copies: where all ranks share a
  // host, and all of them name such memory. Called by all ranks, with equal sizes.
  std::shared_ptr<const SharedWindow> allocate(std::size_t bytes);

  // Where memory from allocate() lies, and what lies at such a place of another rank; nothing for any other memory.
  std::optional<WindowAddress> find(std::span<const float> floats) const { return windows_->find(floats); }
  std::span<float> at(int rank, const WindowAddress& place, std::size_t floats) const {
    return windows_->at(rank, place, floats);
  }

  // From now on the collectives, those in the background too, are among these ranks of the group only (this rank is one
  // of them), which rank() and world() then count; see Collectives. What was started before is still among the ranks of
  // then. The mailbox, and allocate(), keep the ranks of the group.
  void among(const std::vector<int>& ranks, std::uint32_t sequence);

  // The same of those in the background alone.
  void among_in_background(const std::vector<int>& ranks, std::uint32_t sequence);

  // From where among() may count: the larger of the next numbers of both kinds of collectives.
  std::uint32_t sequence();

  // A collective in the background: what `run` calls.
  PendingCollective start(std::function<void(Collectives&)> run, RunBy by = RunBy::thread) {
    return background_->start(std::move(run), by);
  }

  // Of everything that this group does.
  Traffic& traffic() { return *traffic_; }

  // Messages from one rank to another, whatever the others do.
  Mailbox& mailbox() { return *mailbox_; }

  // For a rank that cannot go on: every wait of this rank ends with this sentence. Others see it when it leaves.
  void give_up(const std::string& sentence) { alarm_->raise(sentence); }
  // Nothing works any more: a rank failed, or this one gave up.
  bool is_broken() const { return alarm_->is_raised(); }
  // The same for one that has seen a rank go, of which a verdict may still come.
  bool is_broken_soon() const { return alarm_->is_raised_soon(); }
  std::string why_broken() const { return alarm_->sentence(); }

 private:
  Group(Mesh mesh, const std::shared_ptr<WindowSet>& windows)
      : Group(mesh.front.alarm, mesh.front.traffic, std::move(mesh), windows) {}
  Group(std::shared_ptr<FailureState> alarm, std::shared_ptr<Traffic> traffic, Mesh&& mesh,
        const std::shared_ptr<WindowSet>& windows)
      : Collectives(std::make_unique<ProgressLoop>(std::move(mesh.front)), windows),
        alarm_(std::move(alarm)),
        traffic_(std::move(traffic)),
        windows_(windows),
        memory_(std::move(mesh.memory)),
        mailbox_(std::make_unique<Mailbox>(std::move(mesh.mailbox))),
        background_(std::make_unique<Background>(
            std::make_unique<Collectives>(std::make_unique<ProgressLoop>(std::move(mesh.back)), windows))) {}

  std::shared_ptr<GroupServices> services_;  // first: goes when nothing runs any more
  std::shared_ptr<FailureState> alarm_;
  std::shared_ptr<Traffic> traffic_;
  std::shared_ptr<WindowSet> windows_;
  std::shared_ptr<HostMemory> memory_;
  std::unique_ptr<Mailbox> mailbox_;
  std::unique_ptr<Background> background_;
};

}  // namespace trireme::comm
