// StepSeconds and kStepPhases: the phases of a training step, their names and their seconds.
// Values and constants.
// Metrics, summary, trace, console, reports and benchmarks all loop over the table. A new phase is a member of
// StepSeconds and a row.
#pragma once

#include <array>

namespace trireme::observe {

// The seconds of one step, or a sum over steps. No phase is counted twice.
struct StepSeconds {
  double load = 0, forward = 0, backward = 0, update = 0;
  double network = 0;  // communication that blocked the computation
  double hidden = 0;   // communication that overlapped with computation; not a phase

  double compute() const { return forward + backward; }
  double total() const;  // of the phases
  StepSeconds& operator+=(const StepSeconds& more);
  StepSeconds& operator*=(double factor);
  friend StepSeconds operator*(StepSeconds seconds, double factor) { return seconds *= factor; }
  bool operator==(const StepSeconds&) const = default;
};

struct StepPhase {
  const char* name;              // in files, tables and traces
  double StepSeconds::*seconds;  // the member with its seconds
  const char* activity;          // as sentences name it: "its loading is slow"
  bool is_own;                   // done by each rank alone, before the ranks meet: a rank can be late with it
};

// In display order.
inline constexpr std::array kStepPhases{StepPhase{"load", &StepSeconds::load, "loading", true},
                                        StepPhase{"forward", &StepSeconds::forward, "forward", true},
                                        StepPhase{"backward", &StepSeconds::backward, "backward", true},
                                        StepPhase{"network", &StepSeconds::network, "network", false},
                                        StepPhase{"update", &StepSeconds::update, "update", false}};

struct StepTime {
  const char* name;
  double StepSeconds::*seconds;
};

// The phases, then hidden communication: everything that is recorded of a step.
inline constexpr auto kStepTimes = [] {
  std::array<StepTime, kStepPhases.size() + 1> all{};
  for (std::size_t i = 0; i < kStepPhases.size(); ++i) all[i] = {kStepPhases[i].name, kStepPhases[i].seconds};
  all.back() = {"hidden_network", &StepSeconds::hidden};
  return all;
}();

inline double StepSeconds::total() const {
  double sum = 0;
  for (const StepPhase& phase : kStepPhases) sum += this->*phase.seconds;
  return sum;
}

inline StepSeconds& StepSeconds::operator+=(const StepSeconds& more) {
  for (const StepTime& time : kStepTimes) this->*time.seconds += more.*time.seconds;
  return *this;
}

inline StepSeconds& StepSeconds::operator*=(double factor) {
  for (const StepTime& time : kStepTimes) this->*time.seconds *= factor;
  return *this;
}

}  // namespace trireme::observe
