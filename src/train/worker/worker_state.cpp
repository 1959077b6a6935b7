// The worker between intervals: it gives or takes its state on the helm's orders.
#include <algorithm>

#include "base/index.h"
#include "train/messages/role_mailbox.h"
#include "train/worker/worker.h"

namespace trireme::train {
namespace {

constexpr int kToHelm = strategy::RoleMap::kHelm;

}  // namespace

// Sends the parts of the state that this worker owns to a helm in another process.
void Worker::give_state() {
  StateReply message{{{context_.group.rank(), {0, crew_->space().floats()}, version_}}};
  if (state_phase_) message.pieces = context_.phases[*state_phase_].strategy->export_state(as_strategies_see_it());
  send_to_helm(message);
  const std::int64_t trained = crew_->space().trained_floats();
  const auto send = [&](std::span<const float> values) {
    if (!values.empty()) send_values<float>(context_.group.mailbox(), kToHelm, kState, values);
  };
  for (const strategy::StatePiece& piece : message.pieces) {
    send({crew_->weights() + piece.floats.begin, base::at(piece.floats.size())});
    const base::Range part{std::min(piece.floats.begin, trained), std::min(piece.floats.end, trained)};
    for (int s = 0; s < updater_->state().slots(); ++s) send(updater_->state().slot(s, part));
  }
}

void Worker::take_state(const ReceiveStateOrder& order) {
  comm::Mailbox& mailbox = context_.group.mailbox();
  const auto take = [&](std::span<float> values) {
    receive_bytes(mailbox, kToHelm, kState, std::as_writable_bytes(values));
  };
  take({crew_->weights(), base::at(crew_->space().floats())});
  if (order.with_optimizer)
    for (int s = 0; s < updater_->state().slots(); ++s) take(updater_->state().slot(s));
  crew_->refresh_weight_forms();
  state_phase_.reset();
  version_ = order.step;
}

}  // namespace trireme::train
