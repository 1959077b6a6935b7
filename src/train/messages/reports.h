// Reports: what workers and servers tell the helm, as typed messages. role_mailbox.h sends them, message.h encodes
// them.
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "observe/step_phases.h"
#include "strategy/common/state_map.h"
#include "strategy/common/strategy.h"
#include "train/messages/message.h"
#include "train/messages/orders.h"

namespace trireme::train {

// The numbers of a step, or of one push of it.
struct StepSums {
  double loss = 0, correct = 0;  // sums over the samples
  double samples = 0;
  double penalty = 0;
  double lr = 0;
  bool operator==(const StepSums&) const = default;
};

// A synchronous step is done; from worker 0.
struct StepNews {
  std::int64_t step = 0;  // counted from 1
  StepSums sums{};
  std::vector<strategy::Note> notes{};  // of all workers
  std::vector<base::Range> shares{};    // oars of each worker
};

// A push is done; from the leader of the group, or the worker, that pushed.
struct PushNews {
  int pusher = 0;         // strategy::ShareRules
  std::int64_t step = 0;  // of its batch, counted from 1
  StepSums sums{};
  std::int64_t clock = 0, slowest = 0;  // when it began: pushes of this pusher, of the slowest
  std::vector<strategy::Note> notes{};  // of those that pushed
};

// An asynchronous worker asks for its next share; the answer is a ShareAnswer.
struct ShareRequest {
  int pusher = 0;
};

// A worker has ended its stretch.
struct StretchNews {
  int worker = 0;
  std::int64_t synchronisations = 0;  // of replicas
  std::string ledger{};               // of the epoch so far (data::Ledger)
};

// Somebody cannot go on. The last message of its process.
struct FailureNews {
  std::string sentence{};
};

// The answer to an EvaluateOrder: per evaluation batch.
struct EvaluationNews {
  std::vector<double> losses{}, corrects{};
};

// The answer to a SendTrafficOrder: bytes that the process gave to others and got from them.
struct TrafficNews {
  std::uint64_t sent = 0, received = 0;
};

// The answer to a SendTraceOrder (observe::Trace::pack).
struct TraceNews {
  std::string packed{};
};

// The answer to a GiveStateOrder; the floats follow.
struct StateNews {
  strategy::StateMap pieces{};
};

// The answer to a SayDoneOrder.
struct DoneNews {};

using Report = std::variant<StepNews, PushNews, ShareRequest, StretchNews, FailureNews, EvaluationNews, TrafficNews,
                            TraceNews, StateNews, DoneNews>;

template <>
inline constexpr auto kFields<StepSums> =
    std::tuple{&StepSums::loss, &StepSums::correct, &StepSums::samples, &StepSums::penalty, &StepSums::lr};
template <>
inline constexpr auto kFields<observe::StepSeconds> = [] {
  return []<std::size_t... I>(std::index_sequence<I...>) { return std::tuple{observe::kStepTimes[I].seconds...}; }
  (std::make_index_sequence<observe::kStepTimes.size()>());
}();
template <>
inline constexpr auto kFields<strategy::Note> = std::tuple{&strategy::Note::seconds, &strategy::Note::arrived_ns,
                                                           &strategy::Note::wants_stop, &strategy::Note::under_way};
template <>
inline constexpr auto kFields<StepNews> =
    std::tuple{&StepNews::step, &StepNews::sums, &StepNews::notes, &StepNews::shares};
template <>
inline constexpr auto kFields<PushNews> = std::tuple{&PushNews::pusher, &PushNews::step,    &PushNews::sums,
                                                     &PushNews::clock,  &PushNews::slowest, &PushNews::notes};
template <>
inline constexpr auto kFields<ShareRequest> = std::tuple{&ShareRequest::pusher};
template <>
inline constexpr auto kFields<StretchNews> =
    std::tuple{&StretchNews::worker, &StretchNews::synchronisations, &StretchNews::ledger};
template <>
inline constexpr auto kFields<FailureNews> = std::tuple{&FailureNews::sentence};
template <>
inline constexpr auto kFields<EvaluationNews> = std::tuple{&EvaluationNews::losses, &EvaluationNews::corrects};
template <>
inline constexpr auto kFields<TrafficNews> = std::tuple{&TrafficNews::sent, &TrafficNews::received};
template <>
inline constexpr auto kFields<TraceNews> = std::tuple{&TraceNews::packed};
template <>
inline constexpr auto kFields<strategy::StatePiece> =
    std::tuple{&strategy::StatePiece::owner, &strategy::StatePiece::floats, &strategy::StatePiece::version};
template <>
inline constexpr auto kFields<StateNews> = std::tuple{&StateNews::pieces};
template <>
inline constexpr auto kFields<DoneNews> = std::tuple<>();

}  // namespace trireme::train
