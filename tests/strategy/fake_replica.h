// A Replica without a network, whose gradients have a closed form. The loss of a sample is half the squared distance of
// the weights from a target that follows from the sample's index, so the gradient of a mean is the weights minus the
// mean target, and SGD's steps can be written down. Targets are small integers: with a learning rate of 1/2 and batches
// of a power of two every sum is exact in float32, in any order.
#pragma once

#include <algorithm>
#include <cstring>
#include <memory>
#include <optional>
#include <vector>

#include "crew/move_statistic.h"
#include "crew/replica.h"
#include "tensor/buffer.h"

namespace trireme::strategy {

inline float fake_target(std::int64_t sample, std::int64_t position) {
  return static_cast<float>((sample * 7 + position * 3) % 16);
}

class FakeReplica : public crew::Replica {
 public:
  static constexpr std::int64_t kFloats = 40, kStatistics = 3, kChunk = 16;
  static constexpr double kMomentum = 0.5;

  // `fast`: one sum of all that is computed here, instead of those of the oar tree.
  explicit FakeReplica(int oars, bool fast = false)
      : oars_(oars), fast_(fast), oar_loss_(at(oars)), oar_correct_(at(oars)) {
    const auto entry = [](const char* name, tensor::ParameterKind kind, std::int64_t floats) {
      const tensor::Shape shape{floats};
      return tensor::ParameterSpace::Entry{name, kind, shape, tensor::Layout::plain(shape)};
    };
    using tensor::ParameterKind;
    space_ = tensor::ParameterSpace({entry("first", ParameterKind::trained, kFloats),
                                     entry("mean", ParameterKind::statistic, kStatistics),
                                     entry("last", ParameterKind::trained, kFloats)});
    for (int p : {2, 0})
      for (std::int64_t begin = 0; begin < kFloats; begin += kChunk)
        chunks_.push_back(
            {static_cast<int>(chunks_.size()), p, space_.range(p).offset + begin, std::min(kChunk, kFloats - begin)});
    statistics_.push_back({space_.range(1).offset, kStatistics, kMomentum});
    own_ = tensor::Buffer(at(space_.floats()) * sizeof(float));
    std::fill_n(own_.floats(), space_.floats(), 0.0f);
    weights_ = own_.floats();
  }

  int oars() const override { return oars_; }
  const tensor::ParameterSpace& space() const override { return space_; }
  const std::vector<crew::Chunk>& chunks() const override { return chunks_; }
  const std::vector<crew::MovingStatistic>& moving_statistics() const override { return statistics_; }
  crew::GradientOrder gradient_order() const override {
    crew::GradientOrder order;
    for (const crew::Chunk& chunk : chunks_) order.turn.push_back(chunk.parameter == 2 ? 0 : 1);
    order.prompt_turns = 2;
    return order;
  }
  double l2_penalty(int) const override { return 0; }

  float* weights() override { return weights_; }
  void move_weights(float* memory) override {
    if (memory != weights_) std::copy_n(weights_, space_.floats(), memory);
    weights_ = memory;
  }
  void share_weights(float* memory) override { weights_ = memory; }
  void place_gradient(float*) override {}
  void refresh_weight_forms() override {}
  void refresh_weight_forms(int) override {}

  using Replica::compute;
  crew::ComputeReport compute(const crew::BatchView& batch, const crew::RandomSeed& random,
                              TakeGradient take) override {
    return compute(batch, random, {{0, oars_}}, [&](const crew::Chunk& chunk, auto sums) { take(chunk, sums[0]); });
  }
  crew::ComputeReport compute(const crew::BatchView& batch, const crew::RandomSeed& random) override {
    kept_.assign(at(space_.floats()), 0);
    return compute(batch, random, [&](const crew::Chunk& chunk, const float* gradient) {
      std::copy_n(gradient, chunk.count, kept_.begin() + chunk.offset);
    });
  }
  const float* gradient() const override { return kept_.data(); }

  crew::ComputeReport compute(const crew::BatchView& batch, const crew::RandomSeed&, const crew::Share& share,
                              TakePartials take, NeedWeights need) override {
    const std::vector<int> all{2, 0};
    need(all);
    const std::vector<base::Range> parts = partials(batch.samples, share);
    const double n = static_cast<double>(samples_of(share.whole(oars_), batch.samples).size());
    std::vector<std::vector<float>> sums;
    for (const base::Range& part : parts) {
      const base::Range samples = samples_of(part, batch.samples);
      sums.emplace_back(at(space_.trained_floats()));
      for (std::int64_t i = 0; i < space_.trained_floats(); ++i)
        for (std::int64_t s = samples.begin; s < samples.end; ++s)
          sums.back()[at(i)] += static_cast<float>((weights_[i] - fake_target(index(batch, s), i)) / n);
    }
    for (const crew::Chunk& chunk : chunks_) {
      std::vector<const float*> pointers;
      for (const std::vector<float>& sum : sums) pointers.push_back(sum.data() + chunk.offset);
      take(chunk, pointers);
    }
    make_statistics(batch, parts);
    crew::ComputeReport report;
    for (std::int64_t oar = share.oars.begin; oar < share.oars.end; ++oar) {
      const base::Range samples = base::oar_samples(static_cast<int>(oar), oars_, batch.samples);
      oar_loss_[at(oar)] = oar_correct_[at(oar)] = static_cast<double>(samples.size());
      report.loss += oar_loss_[at(oar)];
    }
    report.correct = report.loss;
    samples_ = batch.samples;
    return report;
  }
  const std::vector<base::Range>& partials(std::int64_t samples, const crew::Share& share) override {
    partials_.clear();
    if (fast_ && !samples_of(share.oars, samples).empty()) partials_.push_back(share.oars);
    if (fast_) return partials_;
    const base::Range whole = share.whole(oars_);
    const base::Range held{share.oars.begin - whole.begin, share.oars.end - whole.begin};
    for (const base::Range& part : base::oar_partials(static_cast<int>(whole.size()), held)) {
      const base::Range oars{whole.begin + part.begin, whole.begin + part.end};
      if (!samples_of(oars, samples).empty()) partials_.push_back(oars);
    }
    return partials_;
  }
  std::span<const double> oar_losses() const override { return oar_loss_; }
  std::span<const double> oar_corrects() const override { return oar_correct_; }

  void for_each_chunk(TakeGradient f) override { for_each_chunk(kept_.data(), {0, 6}, f); }
  void for_each_chunk(const float* gradient, base::Range chunks, TakeGradient f) override {
    for (std::int64_t c = chunks.begin; c < chunks.end; ++c) f(chunks_[at(c)], gradient + chunks_[at(c)].offset);
  }
  void finish_step() override { move_statistics(statistics_sums_[0].data(), samples_); }
  std::span<const float* const> statistics_sums() override {
    pointers_.clear();
    for (const std::vector<float>& sums : statistics_sums_) pointers_.push_back(sums.data());
    return pointers_;
  }
  void move_statistics(const float* sums, std::int64_t samples, double momentum = 1) override {
    crew::move_statistic(weights_ + statistics_[0].offset, sums, kStatistics, momentum * kMomentum, samples);
  }

 private:
  static std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }
  static std::int64_t index(const crew::BatchView& batch, std::int64_t sample) {
    return batch.indices[at(sample - batch.first)];
  }
  base::Range samples_of(base::Range oars, std::int64_t samples) const {
    return {oars.begin * samples / oars_, oars.end * samples / oars_};
  }
  // The statistic of a sample is its target.
  void make_statistics(const crew::BatchView& batch, const std::vector<base::Range>& parts) {
    statistics_sums_.clear();
    for (const base::Range& part : parts) {
      const base::Range samples = samples_of(part, batch.samples);
      statistics_sums_.emplace_back(at(space_.floats() - space_.trained_floats()));
      for (std::int64_t i = 0; i < kStatistics; ++i)
        for (std::int64_t s = samples.begin; s < samples.end; ++s)
          statistics_sums_.back()[at(i)] += fake_target(index(batch, s), i);
    }
  }

  int oars_;
  bool fast_;
  tensor::ParameterSpace space_;
  std::vector<crew::Chunk> chunks_;
  std::vector<crew::MovingStatistic> statistics_;
  tensor::Buffer own_;
  float* weights_ = nullptr;
  std::vector<float> kept_;
  std::vector<base::Range> partials_;
  std::vector<std::vector<float>> statistics_sums_;  // per partial
  std::vector<const float*> pointers_;
  std::int64_t samples_ = 0;
  std::vector<double> oar_loss_, oar_correct_;
};

}  // namespace trireme::strategy
