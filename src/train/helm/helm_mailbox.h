// HelmMailbox: sends the helm's orders to workers and servers, addressed by number, and receives their reports.
// Runs in the helm's thread.
#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "comm/group/group.h"
#include "strategy/common/role_map.h"
#include "train/messages/role_mailbox.h"

namespace trireme::train {

class HelmMailbox {
 public:
  // Both must outlive this object and are read in every call, because they change when workers are lost.
  HelmMailbox(comm::Group& group, const strategy::RoleMap& roles) : group_(group), roles_(roles) {}

  comm::Mailbox& mailbox() { return group_.mailbox(); }

  void order_worker(int worker, const Order& order) {
    send_order(mailbox(), roles_.process_of_worker(worker), kOrder, order);
  }
  void order_workers(const Order& order) {
    for (int w = 0; w < roles_.workers; ++w) order_worker(w, order);
  }
  void order_server(int server, const Order& order) {
    send_order(mailbox(), roles_.process_of_server(server), kServerOrder, order);
  }
  void order_servers(const Order& order) {
    for (int k = 0; k < roles_.servers; ++k) order_server(k, order);
  }

  // The next report of any role; nullopt when none came within `seconds`. A FailureMessage is thrown as a run error
  // that names the role.
  std::optional<Report> receive(double seconds) { return receive_from(comm::kAnyRank, seconds); }

  // Waits for the answer of a process to its last order.
  template <class T>
  T answer_of(int process) {
    for (;;)
      if (std::optional<Report> report = receive_from(process, kLookSeconds)) {
        T* answer = std::get_if<T>(&*report);
        base::check(answer != nullptr, "{} answered with a report of kind {}", roles_.name(process), report->index());
        return std::move(*answer);
      }
  }

 private:
  static constexpr double kLookSeconds = 1;  // how often to check that the group is alive

  std::optional<Report> receive_from(int process, double seconds) {
    auto got = receive_report(mailbox(), process, seconds, room_);
    if (!got) return std::nullopt;
    if (const auto* failure = std::get_if<FailureMessage>(&got->report))
      base::run_error("{}: {}", roles_.name(got->from), failure->sentence);
    return std::move(got->report);
  }

  comm::Group& group_;
  const strategy::RoleMap& roles_;
  std::vector<std::byte> room_;
};

}  // namespace trireme::train
