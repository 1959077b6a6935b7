// Orders: what the helm tells workers and servers to do, as typed messages. role_mailbox.h sends them,
// message_encoding.h encodes them.
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
  double lr_scale = 1;      // of an asynchronous interval
  bool new_ledger = false;  // an epoch begins
  bool operator==(const ComputeOrder&) const = default;
};

// Evaluate this worker's part of a set that is cut into `parts`.
struct EvaluateOrder {
  bool validation = false;  // instead of the test set
  int parts = 1;
  bool operator==(const EvaluateOrder&) const = default;
};

// Bring weights and optimizer state to where the strategy of a phase wants them. To workers and servers.
struct HandOverOrder {
  std::uint64_t phase = 0;
  strategy::StateOwner from = strategy::StateOwner::workers;  // who holds them now
  bool keeps_state = true;                                    // of the optimizer; otherwise it is cleared
  std::int64_t step = 0;                                      // that they are of
  bool operator==(const HandOverOrder&) const = default;
};

// Send the parts of the state that the role holds to the helm: a StateReply, then of each piece the weights and every
// slot of the optimizer. To worker 0, or to every server.
struct SendStateOrder {
  bool operator==(const SendStateOrder&) const = default;
};
// Receive weights, and optimizer state if so said, from the helm.
struct ReceiveStateOrder {
  bool with_optimizer = false;
  std::int64_t step = 0;  // that they are of
  bool operator==(const ReceiveStateOrder&) const = default;
};
// Answer the helm's questions for the time (comm::answer_clock).
struct ClockOrder {
  bool operator==(const ClockOrder&) const = default;
};
// Send a Acknowledgement: all orders before this one are carried out by then.
struct AcknowledgeOrder {
  bool operator==(const AcknowledgeOrder&) const = default;
};
struct SendTraceOrder {
  bool operator==(const SendTraceOrder&) const = default;
};
struct SendTrafficOrder {
  bool operator==(const SendTrafficOrder&) const = default;
};
// The run is over.
struct EndOrder {
  bool operator==(const EndOrder&) const = default;
};

using Order = std::variant<ComputeOrder, EvaluateOrder, HandOverOrder, SendStateOrder, ReceiveStateOrder, ClockOrder,
                           AcknowledgeOrder, SendTraceOrder, SendTrafficOrder, EndOrder>;

// "row", "hand over", ...: for error messages.
std::string name_of(const Order& order);

// The answer to a ShareRequest: a worker's next share of an asynchronous interval. Passed on inside a group.
struct ShareReply {
  std::int64_t step = -1;  // counted from 0; -1: none is left
  base::Range oars;
  bool operator==(const ShareReply&) const = default;
};

// How far a worker may go ahead in the interval that began at step `interval`.
struct LimitMessage {
  std::int64_t interval = 0;
  std::int64_t limit = 0;    // the first clock that must not begin
  std::int64_t slowest = 0;  // clock
  bool operator==(const LimitMessage&) const = default;
};

template <>
inline constexpr auto kFields<base::Range> = std::tuple{&base::Range::begin, &base::Range::end};
template <>
inline constexpr auto kFields<ComputeOrder> = std::tuple{&ComputeOrder::phase, &ComputeOrder::from, &ComputeOrder::to,
                                                         &ComputeOrder::lr_scale, &ComputeOrder::new_ledger};
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
inline constexpr auto kFields<SendTraceOrder> = std::tuple<>();
template <>
inline constexpr auto kFields<SendTrafficOrder> = std::tuple<>();
template <>
inline constexpr auto kFields<EndOrder> = std::tuple<>();
template <>
inline constexpr auto kFields<ShareReply> = std::tuple{&ShareReply::step, &ShareReply::oars};
template <>
inline constexpr auto kFields<LimitMessage> =
    std::tuple{&LimitMessage::interval, &LimitMessage::limit, &LimitMessage::slowest};

}  // namespace trireme::train
