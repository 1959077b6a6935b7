// Reports: the typed messages that workers and servers send to the helm.
// Plain values. role_mailbox.h sends them, message_encoding.h encodes them.
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "observe/events.h"
#include "observe/step_phases.h"
#include "observe/tcp_loads.h"
#include "strategy/common/state_map.h"
#include "strategy/common/strategy.h"
#include "train/messages/message_encoding.h"
#include "train/messages/orders.h"

namespace trireme::train {

// The sums of a step, or of one push.
struct StepSums {
  double loss = 0, correct = 0;  // sums over the samples
  double samples = 0;
  double penalty = 0;
  double lr = 0;
  bool operator==(const StepSums&) const = default;
};

// A synchronous step is complete; sent by worker 0.
struct StepMessage {
  std::int64_t step = 0;  // counted from 1
  StepSums sums{};
  std::vector<strategy::WorkerStepReport> notes{};  // of all workers
  std::vector<base::Range> shares{};                // oars of each worker
};

// A push is complete; sent by the worker that pushed: the leader of a group, or a worker without a group.
struct PushMessage {
  int pusher = 0;         // see strategy::ShareRules
  std::int64_t step = 0;  // of its batch, counted from 1
  StepSums sums{};
  std::int64_t clock = 0, slowest = 0;              // pushes made by this pusher, and by the slowest, when it began
  std::vector<strategy::WorkerStepReport> notes{};  // of each worker of this pusher
};

// A pusher asks for its next share; the answer is a ShareReply.
struct ShareRequest {
  int pusher = 0;
};

// Every few seconds of steps, from each worker of a run on several hosts.
struct LinksMessage {
  int worker = 0;
  std::vector<observe::TcpLoad> links{};  // of its process, since it began
};

// A worker has ended its interval.
struct IntervalEndMessage {
  int worker = 0;
  std::int64_t synchronisations = 0;  // averages of diverged replicas
  std::string ledger{};               // of the epoch so far (data::Ledger)
};

// The role has failed. The last message of its process.
struct FailureMessage {
  std::string sentence{};
};

// The answer to an EvaluateOrder: one value per evaluation batch.
struct EvaluationReply {
  std::vector<double> losses{}, corrects{};
  std::vector<double> scores{};           // score_sums() per batch
  std::vector<std::int64_t> confusion{};  // of all batches
};

// The answer to a SendTrafficOrder: bytes that the process has sent to and received from other processes.
struct TrafficReply {
  std::uint64_t sent = 0, received = 0;
};

// The answer to a SendStateOrder; the floats follow.
struct StateReply {
  strategy::StateMap pieces{};
};

// The answer to a SendUpdatesOrder; the floats follow.
struct UpdatesReply {
  std::vector<base::Range> ranges{};
};

// The answer to an AcknowledgeOrder or a SendSpansOrder.
struct Acknowledgement {};

using Report = std::variant<StepMessage, PushMessage, ShareRequest, IntervalEndMessage, FailureMessage, EvaluationReply,
                            TrafficReply, StateReply, Acknowledgement, UpdatesReply, LinksMessage>;

template <>
inline constexpr auto kFields<StepSums> =
    std::tuple{&StepSums::loss, &StepSums::correct, &StepSums::samples, &StepSums::penalty, &StepSums::lr};
template <>
inline constexpr auto kFields<observe::StepSeconds> = [] {
  return []<std::size_t... I>(std::index_sequence<I...>) { return std::tuple{observe::kStepTimes[I].seconds...}; }
  (std::make_index_sequence<observe::kStepTimes.size()>());
}();
template <>
inline constexpr auto kFields<strategy::WorkerStepReport> =
    std::tuple{&strategy::WorkerStepReport::seconds, &strategy::WorkerStepReport::arrived_ns,
               &strategy::WorkerStepReport::wants_stop, &strategy::WorkerStepReport::under_way};
template <>
inline constexpr auto kFields<StepMessage> =
    std::tuple{&StepMessage::step, &StepMessage::sums, &StepMessage::notes, &StepMessage::shares};
template <>
inline constexpr auto kFields<PushMessage> =
    std::tuple{&PushMessage::pusher, &PushMessage::step,    &PushMessage::sums,
               &PushMessage::clock,  &PushMessage::slowest, &PushMessage::notes};
template <>
inline constexpr auto kFields<ShareRequest> = std::tuple{&ShareRequest::pusher};
template <>
inline constexpr auto kFields<observe::TcpLoad> = std::tuple{&observe::TcpLoad::local, &observe::TcpLoad::peer,
                                                             &observe::TcpLoad::bytes, &observe::TcpLoad::busy_seconds};
template <>
inline constexpr auto kFields<IntervalEndMessage> =
    std::tuple{&IntervalEndMessage::worker, &IntervalEndMessage::synchronisations, &IntervalEndMessage::ledger};
template <>
inline constexpr auto kFields<FailureMessage> = std::tuple{&FailureMessage::sentence};
template <>
inline constexpr auto kFields<EvaluationReply> = std::tuple{&EvaluationReply::losses, &EvaluationReply::corrects,
                                                            &EvaluationReply::scores, &EvaluationReply::confusion};
template <>
inline constexpr auto kFields<TrafficReply> = std::tuple{&TrafficReply::sent, &TrafficReply::received};
template <>
inline constexpr auto kFields<strategy::StatePiece> =
    std::tuple{&strategy::StatePiece::owner, &strategy::StatePiece::floats, &strategy::StatePiece::version};
template <>
inline constexpr auto kFields<StateReply> = std::tuple{&StateReply::pieces};
template <>
inline constexpr auto kFields<Acknowledgement> = std::tuple<>();
template <>
inline constexpr auto kFields<observe::ResourceFigures> = std::tuple{&observe::ResourceFigures::host,
                                                                     &observe::ResourceFigures::rank,
                                                                     &observe::ResourceFigures::period_seconds,
                                                                     &observe::ResourceFigures::cpu,
                                                                     &observe::ResourceFigures::cpus,
                                                                     &observe::ResourceFigures::core_limit,
                                                                     &observe::ResourceFigures::cores,
                                                                     &observe::ResourceFigures::memory_bytes,
                                                                     &observe::ResourceFigures::shared_bytes,
                                                                     &observe::ResourceFigures::network_received_bytes,
                                                                     &observe::ResourceFigures::network_sent_bytes};
template <>  // not a report: it has a tag of its own
inline constexpr auto kFields<observe::ResourcesUsed> =
    std::tuple{&observe::ResourcesUsed::line, &observe::ResourcesUsed::figures};
template <>
inline constexpr auto kFields<LinksMessage> = std::tuple{&LinksMessage::worker, &LinksMessage::links};
template <>
inline constexpr auto kFields<UpdatesReply> = std::tuple{&UpdatesReply::ranges};

}  // namespace trireme::train
