// Span: something that a thread of a run did from a start to an end: a step, a phase, an exchange.
// Plain values.
// Each kind of span is a row of kSpanKinds with its name and the names of its arguments; docs/run_folder.md lists them.
// A new kind is an enumerator and a row.
#pragma once

#include <array>
#include <cstdint>

namespace trireme::observe {

enum class SpanKind : std::uint16_t {
  step,
  load,
  forward,
  backward,
  network,
  update,
  evaluate,
  oar_forward,
  oar_backward,
  reduce,
  push,
  pull,
  receive_push,
  handle_push,
  reply,
  hand_over,
  read_batch,
};

inline constexpr std::size_t kSpanArguments = 3;

struct SpanKindRow {
  SpanKind kind;
  const char* name;
  const char* category;
  std::array<const char*, kSpanArguments> arguments;  // null: none
};

inline constexpr std::array kSpanKinds{
    SpanKindRow{SpanKind::step, "step", "step", {"loss", "samples", nullptr}},
    SpanKindRow{SpanKind::load, "load", "phase", {}},
    SpanKindRow{SpanKind::forward, "forward", "phase", {}},
    SpanKindRow{SpanKind::backward, "backward", "phase", {}},
    SpanKindRow{SpanKind::network, "network", "phase", {}},
    SpanKindRow{SpanKind::update, "update", "phase", {}},
    SpanKindRow{SpanKind::evaluate, "evaluate", "step", {"batches", nullptr, nullptr}},
    SpanKindRow{SpanKind::oar_forward, "forward", "oar", {"oar", "oars", nullptr}},
    SpanKindRow{SpanKind::oar_backward, "backward", "oar", {"oar", "oars", nullptr}},
    SpanKindRow{SpanKind::reduce, "reduce", "network", {"bucket", "bytes", "waited_for"}},
    SpanKindRow{SpanKind::push, "push", "network", {"bucket", "bytes", "to"}},
    SpanKindRow{SpanKind::pull, "pull", "network", {"bucket", "bytes", "from"}},
    SpanKindRow{SpanKind::receive_push, "receive push", "server", {"bucket", "bytes", "from"}},
    SpanKindRow{SpanKind::handle_push, "handle push", "server", {"bucket", "bytes", "from"}},
    SpanKindRow{SpanKind::reply, "reply", "server", {"bucket", "bytes", "to"}},
    SpanKindRow{SpanKind::hand_over, "hand over", "step", {}},
    SpanKindRow{SpanKind::read_batch, "read batch", "load", {"samples", nullptr, nullptr}},
};

inline constexpr const SpanKindRow& row_of(SpanKind kind) { return kSpanKinds[static_cast<std::size_t>(kind)]; }

static_assert([] {
  for (std::size_t i = 0; i < kSpanKinds.size(); ++i)
    if (static_cast<std::size_t>(kSpanKinds[i].kind) != i) return false;
  return true;
}());

struct Span {
  std::int64_t start_ns = 0, end_ns = 0;  // base::now_ns() of its process
  std::int64_t step = 0;                  // that it belongs to, counted from 1; 0: to none
  // Arrows of the time line have numbers: one begins at the start of the span with that arrow_out and ends at the end
  // of the span with that arrow_in, in any process. 0: none.
  std::uint64_t arrow_out = 0, arrow_in = 0;
  std::array<double, kSpanArguments> arguments{};
  SpanKind kind = SpanKind::step;
  std::uint32_t detail = 0;  // a text of its SpanRecorder; 0: none
};

// The number of the arrow for a message about `what` (a bucket) of a step, equal at sender and receiver.
std::uint64_t arrow_number(SpanKind of, std::int64_t step, int from, int to, std::int64_t what);

}  // namespace trireme::observe
