#include "data/stages/subset.h"

#include <algorithm>
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

DataPair split_off(const DatasetPtr& train, const std::vector<bool>& held_out) {
  std::vector<std::int64_t> kept, validation;
  for (std::int64_t i = 0; i < train->size(); ++i)
    (held_out[static_cast<std::size_t>(i)] ? validation : kept).push_back(i);
  return {subset(train, std::move(kept)), subset(train, std::move(validation))};
}

// How many samples of each class make the share: rounded down, then one more where rounding took most, until the share
// of all is reached. At least 1 of a class that keeps one.
std::vector<std::int64_t> shares_of(const std::vector<std::int64_t>& samples, double fraction) {
  std::vector<std::int64_t> shares;
  std::vector<std::pair<double, std::size_t>> lost;  // by rounding down: minus the part, for ascending order; class
  std::int64_t all = 0, taken = 0;
  for (const std::int64_t of_class : samples) {
    const double exact = fraction * static_cast<double>(of_class);
    const auto down = static_cast<std::int64_t>(exact);
    if (down >= 1 && down < of_class - 1) lost.emplace_back(static_cast<double>(down) - exact, shares.size());
    shares.push_back(of_class < 2 ? 0 : std::clamp<std::int64_t>(down, 1, of_class - 1));
    all += of_class;
    taken += shares.back();
  }
  std::ranges::sort(lost);
  const auto wanted = std::llround(fraction * static_cast<double>(all));
  for (const auto& [part, of_class] : lost) {
    if (taken >= wanted) break;
    ++shares[of_class];
    ++taken;
  }
  return shares;
}

[[noreturn]] void complain_of_share(double fraction, std::int64_t size) {
  base::user_error("a validation share of {} of {} samples leaves one side empty; choose between 0 and 1", fraction,
                   size);
}

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
  if (chosen < 1 || chosen >= size) complain_of_share(fraction, size);

  const Permutation order(size, base::CounterRng(seed, base::Purpose::split));
  std::vector<bool> held_out(static_cast<std::size_t>(size));
  for (std::int64_t i = 0; i < chosen; ++i) held_out[static_cast<std::size_t>(order(i))] = true;
  return split_off(train, held_out);
}

DataPair split_by_class(const DatasetPtr& train, double fraction, std::uint64_t seed) {
  const std::int64_t size = train->size();
  if (!(fraction > 0 && fraction < 1)) complain_of_share(fraction, size);
  std::vector<std::size_t> classes;
  each_target(*train, [&](std::int64_t, std::span<const float> target) {
    classes.push_back(static_cast<std::size_t>(target[0]));
  });
  std::vector<std::int64_t> left = shares_of(class_counts(*train), fraction);
  if (std::ranges::count(left, 0) == std::ssize(left)) complain_of_share(fraction, size);

  const Permutation order(size, base::CounterRng(seed, base::Purpose::split));
  std::vector<bool> held_out(static_cast<std::size_t>(size));
  for (std::int64_t i = 0; i < size; ++i) {
    const auto sample = static_cast<std::size_t>(order(i));
    if (left[classes[sample]] == 0) continue;
    held_out[sample] = true;
    --left[classes[sample]];
  }
  return split_off(train, held_out);
}

}  // namespace trireme::data
