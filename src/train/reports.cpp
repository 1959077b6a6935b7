#include "train/reports.h"

#include <bit>

#include "base/error.h"

namespace trireme::train {
namespace {

constexpr std::size_t kFixed = 13, kPerNote = 8, kPerShare = 2;

}  // namespace

ReportKind kind_of(std::span<const double> numbers) {
  base::check(!numbers.empty(), "an empty report");
  return static_cast<ReportKind>(static_cast<int>(numbers[0]));
}

std::vector<double> to_numbers(const StepNews& n) {
  const auto number = [](std::int64_t i) { return static_cast<double>(i); };
  std::vector<double> all{number(static_cast<std::int64_t>(n.kind)),
                          number(n.worker),
                          number(n.step),
                          n.loss,
                          n.correct,
                          n.samples,
                          n.penalty,
                          n.lr,
                          number(n.synchronisations),
                          number(n.clock),
                          number(n.slowest),
                          number(static_cast<std::int64_t>(n.notes.size())),
                          number(static_cast<std::int64_t>(n.shares.size()))};
  for (const strategy::Note& note : n.notes) {
    const strategy::StepSeconds& s = note.seconds;
    all.insert(all.end(), {s.load, s.forward, s.backward, s.update, s.network, s.hidden,
                           std::bit_cast<double>(note.arrived_ns), note.wants_stop ? 1.0 : 0.0});
  }
  for (const base::Range& share : n.shares) all.insert(all.end(), {number(share.begin), number(share.end)});
  return all;
}

StepNews step_news(std::span<const double> numbers) {
  base::check(numbers.size() >= kFixed, "a report of {} numbers", numbers.size());
  const auto integer = [&](std::size_t i) { return static_cast<std::int64_t>(numbers[i]); };
  StepNews n{kind_of(numbers),
             static_cast<int>(integer(1)),
             integer(2),
             numbers[3],
             numbers[4],
             numbers[5],
             numbers[6],
             numbers[7],
             integer(8),
             integer(9),
             integer(10),
             {},
             {}};
  const auto notes = static_cast<std::size_t>(integer(11)), shares = static_cast<std::size_t>(integer(12));
  base::check(numbers.size() == kFixed + notes * kPerNote + shares * kPerShare, "a report of {} numbers",
              numbers.size());
  std::size_t i = kFixed;
  for (std::size_t k = 0; k < notes; ++k, i += kPerNote)
    n.notes.push_back({{.load = numbers[i],
                        .forward = numbers[i + 1],
                        .backward = numbers[i + 2],
                        .update = numbers[i + 3],
                        .network = numbers[i + 4],
                        .hidden = numbers[i + 5]},
                       std::bit_cast<std::int64_t>(numbers[i + 6]),
                       numbers[i + 7] != 0});
  for (std::size_t k = 0; k < shares; ++k, i += kPerShare) n.shares.push_back({integer(i), integer(i + 1)});
  return n;
}

}  // namespace trireme::train
