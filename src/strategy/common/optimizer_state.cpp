#include "strategy/common/optimizer_state.h"

#include <algorithm>
#include <array>

namespace trireme::strategy {
namespace {
constexpr std::size_t kMaxSlots = 8;
}

OptimizerState::OptimizerState(std::shared_ptr<const optim::Optimizer> optimizer, base::Range floats)
    : optimizer_(std::move(optimizer)), floats_(floats) {
  for (int s = 0; s < optimizer_->slots(); ++s)
    state_.emplace_back(static_cast<std::size_t>(floats.size()) * sizeof(float));
}

void OptimizerState::update(std::int64_t offset, std::int64_t count, float* weights, const float* gradient,
                            const optim::StepScalars& scalars, float l2) {
  std::array<float*, kMaxSlots> state{};
  for (std::size_t s = 0; s < state_.size(); ++s) state[s] = state_[s].floats() + (offset - floats_.begin);
  const bool captures = capture_ && capture_->wants(scalars.step);
  const std::span<const float> updated(weights, static_cast<std::size_t>(count));
  if (captures) capture_->before(offset, updated, gradient);
  optimizer_->update(weights, gradient, std::span(state.data(), state_.size()), count, scalars, l2);
  if (captures) capture_->after(offset, updated);
}

void OptimizerState::watch(std::int64_t step) {
  if (step > 0 && !capture_) capture_ = std::make_unique<UpdateCapture>(floats_);
  if (capture_) capture_->set_step(step);
}

std::span<float> OptimizerState::slot(int slot, base::Range part) {
  return {state_[static_cast<std::size_t>(slot)].floats() + (part.begin - floats_.begin),
          static_cast<std::size_t>(part.size())};
}

void OptimizerState::clear() {
  for (int s = 0; s < slots(); ++s) std::ranges::fill(slot(s), 0.0f);
}

}  // namespace trireme::strategy
