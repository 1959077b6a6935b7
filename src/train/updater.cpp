#include "train/updater.h"

#include <array>
#include <cmath>

#include "base/clock.h"
#include "ops/l2_penalty.h"
#include "optim/clip.h"

namespace trireme::train {
namespace {
constexpr std::size_t kMaxSlots = 8;
}

Updater::Updater(crew::Crew& crew, std::unique_ptr<optim::Optimizer> optimizer, double max_norm)
    : crew_(crew), optimizer_(std::move(optimizer)), max_norm_(max_norm), sums_(crew.chunks().size()) {
  for (const auto& parameter : crew.network().parameters()) {
    l2_.push_back(parameter.l2);
    has_penalty_ |= parameter.l2 != 0;
  }
  for (int s = 0; s < optimizer_->slots(); ++s)
    state_.emplace_back(static_cast<std::size_t>(crew.space().trained_floats()) * sizeof(float));
}

ops::Cost Updater::cost() const {
  const auto slots = static_cast<double>(state_.size());  // read and written like the weights; the gradient is read
  return {2 + 2 * slots, sizeof(float) * (3 + 2 * slots)};
}

double Updater::clip_factor() {
  crew_.for_each_chunk([&](const crew::Chunk& chunk, const float* gradient) {
    sums_[static_cast<std::size_t>(chunk.index)] =
        optim::sum_of_squares({gradient, static_cast<std::size_t>(chunk.count)});
  });
  return optim::clip_factor(std::sqrt(optim::tree_sum(sums_)), max_norm_);
}

void Updater::update_chunk(const crew::Chunk& chunk, const float* gradient, const optim::StepScalars& scalars) {
  const std::size_t slots = state_.size();
  std::array<float*, kMaxSlots> state{};
  for (std::size_t s = 0; s < slots; ++s) state[s] = state_[s].floats() + chunk.offset;
  float* weights = crew_.weights() + chunk.offset;
  const double l2 = l2_[static_cast<std::size_t>(chunk.parameter)];
  if (has_penalty_) sums_[static_cast<std::size_t>(chunk.index)] = l2 == 0 ? 0 : l2 * ops::l2_sum(weights, chunk.count);
  optimizer_->update(weights, gradient, std::span(state.data(), slots), chunk.count, scalars,
                     l2 == 0 ? 0.0f : ops::l2_gradient_factor(l2));
}

Updater::Report Updater::step(const crew::BatchView& batch, const crew::Draw& draw, std::int64_t step, double lr) {
  optim::StepScalars scalars;
  scalars.step = step;
  scalars.lr = lr;
  const auto update = [&](const crew::Chunk& chunk, const float* gradient) { update_chunk(chunk, gradient, scalars); };
  Report report;
  if (max_norm_ <= 0) {
    optimizer_->prepare(scalars);
    report.row = crew_.row(batch, draw, update);
  } else {
    report.row = crew_.row(batch, draw);
  }
  const std::int64_t rowed = base::now_ns();
  if (max_norm_ > 0) {
    scalars.clip = clip_factor();
    optimizer_->prepare(scalars);
    crew_.for_each_chunk(update);
  }
  crew_.finish_step();
  report.penalty = has_penalty_ ? optim::tree_sum(sums_) : 0;
  report.update_seconds = base::seconds_since(rowed);
  return report;
}

std::vector<store::Checkpoint::Slot> Updater::slots() const {
  std::vector<store::Checkpoint::Slot> all;
  const auto names = optimizer_->slot_names();
  for (std::size_t s = 0; s < state_.size(); ++s) all.push_back({names[s], state_[s].span()});
  return all;
}

std::vector<store::SlotBuffer> Updater::slot_buffers() {
  std::vector<store::SlotBuffer> all;
  const auto names = optimizer_->slot_names();
  for (std::size_t s = 0; s < state_.size(); ++s) all.push_back({names[s], state_[s].span()});
  return all;
}

}  // namespace trireme::train
