#include "train/server/server_role.h"

#include "base/error.h"
#include "train/messages/role_mailbox.h"

namespace trireme::train {

ServerRole::ServerRole(comm::Group& group, const strategy::RoleMap& roles, int server,
                       std::vector<strategy::Phase> phases, std::shared_ptr<const optim::Optimizer> optimizer,
                       double max_norm, observe::SpanRecorder* spans, std::function<void()> send_spans)
    : group_(group),
      send_spans_(std::move(send_spans)),
      phases_(std::move(phases)),
      server_(group, roles, server, std::move(optimizer), max_norm) {
  server_.record_spans(spans);
}

void ServerRole::regroup(const strategy::RoleMap& roles, std::vector<strategy::Phase> phases) {
  phases_ = std::move(phases);
  server_.regroup(roles);
}

void ServerRole::follow_orders() {
  for (bool goes_on = true; goes_on;) {
    const Order received = receive_order(group_.mailbox(), strategy::RoleMap::kHelm, kServerOrder);
    std::visit(Match{[&](const ComputeOrder& order) { serve(order); },
                     [&](const HandOverOrder& hand_over) { this->hand_over(hand_over); },
                     [&](const SendStateOrder&) { give_state(); },
                     [&](const SendUpdatesOrder&) {
                       send_updates(group_.mailbox(), strategy::RoleMap::kHelm, server_.captured());
                     },
                     [&](const SendTrafficOrder&) {
                       send_report(group_.mailbox(), strategy::RoleMap::kHelm, traffic_of(group_));
                     },
                     [&](const SendSpansOrder&) {
                       if (send_spans_) send_spans_();
                       send_report(group_.mailbox(), strategy::RoleMap::kHelm, Acknowledgement{});
                     },
                     [&](const EndOrder&) { goes_on = false; },
                     [&](const auto&) { base::check(false, "a server was told to {}", name_of(received)); }},
               received);
  }
}

void ServerRole::serve(const ComputeOrder& order) {
  phase_ = order.phase;
  server_.watch(order.watched_step);
  const auto side = phases_[phase_].strategy->make_server_side(server_);
  try {
    side->run();
  } catch (...) {  // perhaps a lost worker: the shard includes what was pushed before
    server_.raise_version(side->last_step());
    throw;
  }
  server_.raise_version(side->last_step());
}

void ServerRole::hand_over(const HandOverOrder& order) {
  state_phase_ = order.phase;
  if (!order.keeps_state && order.from == strategy::StateOwner::servers) server_.state().clear();
  phases_[state_phase_].strategy->import_state(server_, order.from);
  server_.set_version(order.step);
}

void ServerRole::give_state() {
  comm::Mailbox& mailbox = group_.mailbox();
  const int helm = strategy::RoleMap::kHelm;
  const StateReply message{phases_[state_phase_].strategy->export_state(server_)};
  send_report(mailbox, helm, message);
  const auto send = [&](std::span<const float> values) {
    if (!values.empty()) send_values<float>(mailbox, helm, kState, values);
  };
  for (const strategy::StatePiece& piece : message.pieces) {
    base::check(piece.floats == server_.holds().floats, "a server gives its whole shard");
    send(server_.weights());
    for (int s = 0; s < server_.state().slots(); ++s) send(server_.state().slot(s));
  }
}

}  // namespace trireme::train
