#include "strategy/common/updater.h"

#include <algorithm>
#include <cmath>

#include "base/index.h"
#include "ops/loss/l2_penalty.h"
#include "optim/clip.h"

namespace trireme::strategy {
namespace {
using base::at;
}  // namespace

Updater::Updater(crew::Replica& replica, std::shared_ptr<const optim::Optimizer> optimizer, double max_norm)
    : replica_(replica), optimizer_(std::move(optimizer)), max_norm_(max_norm), sums_(replica.chunks().size()) {
  for (int p = 0; p < replica.space().size(); ++p) {
    is_frozen_.push_back(replica.is_frozen(p));
    l2_.push_back(replica.is_frozen(p) ? 0 : replica.l2_penalty(p));
    has_penalty_ |= l2_.back() != 0;
  }
}

OptimizerState& Updater::state() {
  if (!state_) {
    state_.emplace(optimizer_, base::Range{0, replica_.space().trained_floats()});
    state_->watch(watched_step_);
  }
  return *state_;
}

void Updater::watch(std::int64_t step) {
  watched_step_ = step;
  if (state_) state_->watch(step);
}

ops::Cost Updater::cost() const {
  // Weights and slots are read and written; the gradient is only read.
  const auto slots = static_cast<double>(optimizer_->slots());
  return {2 + 2 * slots, sizeof(float) * (3 + 2 * slots)};
}

optim::StepScalars Updater::scalars(std::int64_t step, double lr) const {
  optim::StepScalars scalars;
  scalars.step = step;
  scalars.lr = lr;
  optimizer_->prepare(scalars);
  return scalars;
}

float Updater::l2_factor(int parameter) const {
  const double l2 = l2_[at(parameter)];
  return l2 == 0 ? 0.0f : ops::l2_gradient_factor(l2);
}

void Updater::update(const crew::Chunk& chunk, const float* gradient, const optim::StepScalars& scalars) {
  float* weights = replica_.weights() + chunk.offset;
  if (has_penalty_) {
    const double l2 = l2_[at(chunk.parameter)];
    sums_[at(chunk.index)] = l2 == 0 ? 0 : l2 * ops::l2_sum(weights, chunk.count);
  }
  if (is_frozen(chunk.parameter)) return;
  state_->update(chunk.offset, chunk.count, weights, gradient, scalars, l2_factor(chunk.parameter));
}

void Updater::update(base::Range chunks, base::Range floats, const float* gradient, const optim::StepScalars& scalars) {
  const auto first = replica_.chunks().begin() + chunks.begin, last = replica_.chunks().begin() + chunks.end;
  auto chunk =
      std::partition_point(first, last, [&](const crew::Chunk& one) { return one.offset + one.count <= floats.begin; });
  for (; chunk != last && chunk->offset < floats.end; ++chunk) {
    if (is_frozen(chunk->parameter)) continue;
    const std::int64_t begin = std::max(chunk->offset, floats.begin);
    const std::int64_t end = std::min(chunk->offset + chunk->count, floats.end);
    state_->update(begin, end - begin, replica_.weights() + begin, gradient + (begin - floats.begin), scalars,
                   l2_factor(chunk->parameter));
  }
}

void Updater::clip(const float* gradient, optim::StepScalars& scalars) {
  replica_.for_each_chunk(gradient, {0, static_cast<std::int64_t>(replica_.chunks().size())},
                          [&](const crew::Chunk& chunk, const float* part) {
                            sums_[at(chunk.index)] = optim::sum_of_squares({part, at(chunk.count)});
                          });
  scalars.clip = optim::clip_factor(std::sqrt(optim::tree_sum(sums_)), max_norm_);
  optimizer_->prepare(scalars);
}

double Updater::penalty() const { return has_penalty_ ? optim::tree_sum(sums_) : 0; }

double Updater::penalty_now() {
  if (!has_penalty_) return 0;
  replica_.for_each_chunk(replica_.weights(), {0, static_cast<std::int64_t>(replica_.chunks().size())},
                          [&](const crew::Chunk& chunk, const float* weights) {
                            const double l2 = l2_[at(chunk.parameter)];
                            sums_[at(chunk.index)] = l2 == 0 ? 0 : l2 * ops::l2_sum(weights, chunk.count);
                          });
  return optim::tree_sum(sums_);
}

}  // namespace trireme::strategy
