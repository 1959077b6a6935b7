#include "train/server_role.h"

#include <array>

#include "base/error.h"
#include "train/mail.h"

namespace trireme::train {

ServerRole::ServerRole(comm::Group& group, const strategy::Cast& cast, int server, std::vector<strategy::Phase> phases,
                       std::shared_ptr<const optim::Optimizer> optimizer, double max_norm)
    : group_(group), phases_(std::move(phases)), server_(group, cast, server, std::move(optimizer), max_norm) {}

void ServerRole::regroup(const strategy::Cast& cast, std::vector<strategy::Phase> phases) {
  phases_ = std::move(phases);
  server_.regroup(cast);
}

void ServerRole::follow_orders() {
  for (bool goes_on = true; goes_on;) {
    const Order order = receive_order(group_.post(), strategy::Cast::kHelm, kServerOrder);
    std::visit(
        Match{[&](const RowOrder& row) {
                phase_ = row.phase;
                phases_[phase_].strategy->make_server_side(server_)->run();
              },
              [&](const HandOverOrder& hand_over) {
                if (hand_over.to == Holder::servers) server_.take_over();
                if (hand_over.to == Holder::workers) server_.give_back();
              },
              [&](const GiveStateOrder&) { give_state(); },
              [&](const SendTrafficOrder&) { send_report(group_.post(), strategy::Cast::kHelm, traffic_of(group_)); },
              [&](const EndOrder&) { goes_on = false; },
              [&](const auto&) { base::check(false, "a server was told to {}", name_of(order)); }},
        order);
  }
}

void ServerRole::give_state() {
  comm::Post& post = group_.post();
  const int helm = strategy::Cast::kHelm;
  const base::Range floats = server_.floats(), trained = server_.state().floats();
  const std::array<std::int64_t, 4> ranges{floats.begin, floats.end, trained.begin, trained.end};
  send_values<std::int64_t>(post, helm, kState, ranges);
  send_values<float>(post, helm, kState, server_.weights());
  for (int s = 0; s < server_.state().slots(); ++s) send_values<float>(post, helm, kState, server_.state().slot(s));
}

}  // namespace trireme::train
