// Group: ranks that work together: collectives, background collectives and a mailbox.
// Collectives: one caller at a time. Background and mailbox: any thread.
// All ranks run collectives in the same order, and start background collectives in the same order.
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

// A rank's links to the others: one set for foreground collectives, one for background collectives, one for the
// mailbox.
inline constexpr int kLinkSets = 3;
struct Mesh {
  LinkSet front, back, mailbox;
  std::shared_ptr<HostMemory> memory;  // only if all ranks share a host

  // All three sets count into the traffic of `of_front`.
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

  // Keeps the services alive as long as the group.
  void keep(std::shared_ptr<GroupServices> services) { services_ = std::move(services); }
  const std::shared_ptr<GroupServices>& services() const { return services_; }

  // How long any wait may last without progress, from now on.
  void set_deadline(double seconds);

  // Zeroed memory that all-reduces work on in place instead of sending copies, if all ranks share a host and all of
  // them pass such memory. All ranks call it, with equal sizes.
  std::shared_ptr<const SharedWindow> allocate(std::size_t bytes);

  // find(): where memory from allocate() lies; nothing for any other memory. at(): the memory at such an address of
  // another rank.
  std::optional<WindowAddress> find(std::span<const float> floats) const { return windows_->find(floats); }
  std::span<float> at(int rank, const WindowAddress& place, std::size_t floats) const {
    return windows_->at(rank, place, floats);
  }

  // Restricts further collectives, background ones too, to these ranks of the group (this rank must be among them);
  // rank() and world() then refer to them; see Collectives. Background collectives that were started before still run
  // among the previous ranks. The mailbox and allocate() keep all ranks of the group.
  void among(const std::vector<int>& ranks, std::uint32_t sequence);

  // The same for background collectives only.
  void among_in_background(const std::vector<int>& ranks, std::uint32_t sequence);

  // A valid `sequence` for among(): the larger of the next numbers of foreground and background collectives.
  std::uint32_t sequence();

  // Starts a collective in the background: `run` calls it.
  PendingCollective start(std::function<void(Collectives&)> run, RunBy by = RunBy::thread) {
    return background_->start(std::move(run), by);
  }

  // Counts everything that this group sends and receives.
  Traffic& traffic() { return *traffic_; }

  // Point-to-point messages, independent of collectives.
  Mailbox& mailbox() { return *mailbox_; }

  // For a rank that cannot continue: every wait of this rank ends with this sentence. The others notice when it leaves.
  void give_up(const std::string& sentence) { alarm_->raise(sentence); }
  // A rank failed, or this one gave up; no operation works any more.
  bool is_broken() const { return alarm_->is_raised(); }
  // The same, but waits a moment for the verdict: for a caller that has just lost a peer.
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

  std::shared_ptr<GroupServices> services_;  // first, so it is destroyed last
  std::shared_ptr<FailureState> alarm_;
  std::shared_ptr<Traffic> traffic_;
  std::shared_ptr<WindowSet> windows_;
  std::shared_ptr<HostMemory> memory_;
  std::unique_ptr<Mailbox> mailbox_;
  std::unique_ptr<Background> background_;
};

}  // namespace trireme::comm
