#include "data/stages/subset.h"

#include <cmath>
#include <numeric>
#include <utility>

#include "base/error.h"
#include "base/rng.h"
#include "data/sampling/sampler.h"

namespace trireme::data {
namespace {

class Subset : public Dataset {
 public:
  Subset(DatasetPtr source, std::vector<std::int64_t> indices)
      : source_(std::move(source)), indices_(std::move(indices)) {
    for (const std::int64_t index : indices_)
      base::check(index >= 0 && index < source_->size(), "sample {} of {} in a subset", index, source_->size());
  }
  const DataSpec& spec() const override { return source_->spec(); }
  std::int64_t size() const override { return static_cast<std::int64_t>(indices_.size()); }
  std::string origin(std::int64_t index) const override {
    return source_->origin(indices_[static_cast<std::size_t>(index)]);
  }
  void fetch(std::int64_t index, const AugmentationSeed& random, std::span<float* const> inputs,
             float* target) const override {
    base::check(index >= 0 && index < size(), "sample {} of {}", index, size());
    source_->fetch(indices_[static_cast<std::size_t>(index)], random, inputs, target);
  }
  bool view(std::int64_t index, std::span<StoredValues> inputs, float* target) const override {
    base::check(index >= 0 && index < size(), "sample {} of {}", index, size());
    return source_->view(indices_[static_cast<std::size_t>(index)], inputs, target);
  }

 private:
  DatasetPtr source_;
  std::vector<std::int64_t> indices_;
};

}  // namespace

DatasetPtr subset(DatasetPtr source, std::vector<std::int64_t> indices) {
  return std::make_shared<Subset>(std::move(source), std::move(indices));
}

DatasetPtr limit(DatasetPtr source, std::int64_t n) {
  if (n < 1) base::user_error("a limit of {} samples leaves nothing to train on; give at least 1", n);
  if (n >= source->size()) return source;
  std::vector<std::int64_t> indices(static_cast<std::size_t>(n));
  std::iota(indices.begin(), indices.end(), std::int64_t{0});
  return subset(std::move(source), std::move(indices));
}

DataPair split_validation(const DatasetPtr& train, double fraction, std::uint64_t seed) {
  const std::int64_t size = train->size();
  const bool sensible = fraction > 0 && fraction < 1;  // false for NaN too
  const auto chosen = sensible ? std::llround(fraction * static_cast<double>(size)) : 0;
  if (chosen < 1 || chosen >= size)
    base::user_error("a validation share of {} of {} samples leaves one side empty; choose between 0 and 1", fraction,
                     size);

  const Permutation order(size, base::CounterRng(seed, base::Purpose::split));
  std::vector<bool> held_out(static_cast<std::size_t>(size));
  for (std::int64_t i = 0; i < chosen; ++i) held_out[static_cast<std::size_t>(order(i))] = true;
  std::vector<std::int64_t> kept, validation;
  for (std::int64_t i = 0; i < size; ++i) (held_out[static_cast<std::size_t>(i)] ? validation : kept).push_back(i);
  return {subset(train, std::move(kept)), subset(train, std::move(validation))};
}

}  // namespace trireme::data
