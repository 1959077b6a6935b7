#include "cluster/launcher/liveness_probe.h"

#include <chrono>

#include "base/system/clock.h"

namespace trireme::cluster {
namespace {

constexpr double kSilentSeconds = 5;  // in total; the group has already waited for its own timeout
constexpr double kProbeSeconds = 1;
constexpr std::chrono::milliseconds kProbePause{50};

}  // namespace

LivenessProbe::LivenessProbe(const comm::JoinOptions& options) {
  thread_ = std::thread([this, options] {
    const std::int64_t deadline = base::in_seconds(kSilentSeconds);
    State state = State::silent;
    while (!stops_ && state == State::silent && base::now_ns() < deadline) {
      if (comm::is_rendezvous_held(options, kProbeSeconds))
        state = State::answered;
      else
        std::this_thread::sleep_for(kProbePause);
    }
    state_ = state;
  });
}

LivenessProbe::~LivenessProbe() {
  stops_ = true;
  thread_.join();
}

}  // namespace trireme::cluster
