// Orders: the typed messages by which the helm tells workers and servers what to do.
// Plain values. role_mailbox.h sends them, message_encoding.h encodes them.
#pragma once

#include <cstdint>
#include <string>
#include <variant>

#include "base/oar_tree.h"
#include "strategy/registry/config.h"
#include "train/messages/message_encoding.h"

namespace trireme::train {

// Compute steps [from, to) of a phase, counted from 0. To workers and servers.
struct ComputeOrder {
  std::uint64_t phase = 0;
  std::int64_t from = 0, to = 0;
  double lr_scale = 1;            // factor of the learning rate in an asynchronous interval
  bool new_ledger = false;        // an epoch begins: clear the ledger
  std::int64_t watched_step = 0;  // capture the updates of this step, counted from 1; 0: of none
  bool operator==(const ComputeOrder&) const = default;
};

// Evaluate this worker's part of a dataset that is cut into `parts` parts.
struct EvaluateOrder {
  bool validation = false;  // the validation set instead of the test set
  int parts = 1;
  bool operator==(const EvaluateOrder&) const = default;
};

// Move weights and optimizer state to the state owner of a phase's strategy. To workers and servers.
struct HandOverOrder {
  std::uint64_t phase = 0;
  strategy::StateOwner from = strategy::StateOwner::workers;  // the current owner
  bool keeps_state = true;                                    // false: clear the optimizer's state
  std::int64_t step = 0;                                      // the last step that the state includes
  bool operator==(const HandOverOrder&) const = default;
};

// Send the pieces of the state that the role owns to the helm: a StateReply, then for each piece its weights and every
// slot of the optimizer. To worker 0, or to every server.
struct SendStateOrder {
  bool operator==(const SendStateOrder&) const = default;
};
// Receive weights, and with_optimizer the optimizer's state, from the helm.
struct ReceiveStateOrder {
  bool with_optimizer = false;
  std::int64_t step = 0;  // the last step that the state includes
  bool operator==(const ReceiveStateOrder&) const = default;
};
// Take part in the helm's clock comparison (comm::answer_clock).
struct ClockOrder {
  bool operator==(const ClockOrder&) const = default;
};
// Send an Acknowledgement after all earlier orders have been carried out.
struct AcknowledgeOrder {
  bool operator==(const AcknowledgeOrder&) const = default;
};
// Send all spans of the last seconds, then an Acknowledgement. To workers and servers.
struct SendSpansOrder {
  bool operator==(const SendSpansOrder&) const = default;
};
// Send the updates of the watched step that the role made: an UpdatesReply, then for each of its ranges the gradients
// and the changes of the weights.
struct SendUpdatesOrder {
  bool operator==(const SendUpdatesOrder&) const = default;
};
struct SendTrafficOrder {
  bool operator==(const SendTrafficOrder&) const = default;
};
// The run is over.
struct EndOrder {
  bool operator==(const EndOrder&) const = default;
};

using Order = std::variant<ComputeOrder, EvaluateOrder, HandOverOrder, SendStateOrder, ReceiveStateOrder, ClockOrder,
                           AcknowledgeOrder, SendSpansOrder, SendTrafficOrder, EndOrder, SendUpdatesOrder>;

// "compute", "hand over", ...: for error messages.
std::string name_of(const Order& order);

// The answer to a ShareRequest: a pusher's next share of an asynchronous interval. The leader of a group forwards it to
// the members.
struct ShareReply {
  std::int64_t step = -1;  // counted from 0; -1: no share is left
  base::Range oars;
  bool operator==(const ShareReply&) const = default;
};

// How far a pusher may go ahead in the interval that began at step `interval`.
struct LimitMessage {
  std::int64_t interval = 0;
  std::int64_t limit = 0;    // the first clock that the pusher may not begin yet
  std::int64_t slowest = 0;  // the slowest pusher's clock
  bool operator==(const LimitMessage&) const = default;
};

template <>
inline constexpr auto kFields<base::Range> = std::tuple{&base::Range::begin, &base::Range::end};
template <>
inline constexpr auto kFields<ComputeOrder> =
    std::tuple{&ComputeOrder::phase,    &ComputeOrder::from,       &ComputeOrder::to,
               &ComputeOrder::lr_scale, &ComputeOrder::new_ledger, &ComputeOrder::watched_step};
template <>
inline constexpr auto kFields<EvaluateOrder> = std::tuple{&EvaluateOrder::validation, &EvaluateOrder::parts};
template <>
inline constexpr auto kFields<HandOverOrder> =
    std::tuple{&HandOverOrder::phase, &HandOverOrder::from, &HandOverOrder::keeps_state, &HandOverOrder::step};
template <>
inline constexpr auto kFields<SendStateOrder> = std::tuple<>();
template <>
inline constexpr auto kFields<ReceiveStateOrder> =
    std::tuple{&ReceiveStateOrder::with_optimizer, &ReceiveStateOrder::step};
template <>
inline constexpr auto kFields<ClockOrder> = std::tuple<>();
template <>
inline constexpr auto kFields<AcknowledgeOrder> = std::tuple<>();
template <>
inline constexpr auto kFields<SendSpansOrder> = std::tuple<>();
template <>
inline constexpr auto kFields<SendTrafficOrder> = std::tuple<>();
template <>
inline constexpr auto kFields<SendUpdatesOrder> = std::tuple<>();
template <>
inline constexpr auto kFields<EndOrder> = std::tuple<>();
template <>
inline constexpr auto kFields<ShareReply> = std::tuple{&ShareReply::step, &ShareReply::oars};
template <>
inline constexpr auto kFields<LimitMessage> =
    std::tuple{&LimitMessage::interval, &LimitMessage::limit, &LimitMessage::slowest};

}  // namespace trireme::train
