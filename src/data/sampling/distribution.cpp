#include "data/sampling/distribution.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "base/error.h"
#include "base/rng.h"
#include "base/text/nearest.h"
#include "base/text/text.h"

namespace trireme::data {
namespace {

constexpr int kMostWorkers = 1 << 20;

struct Kind {
  const char* name;
  const char* description;
  Scheme scheme;
};
constexpr std::array kKinds = {
    Kind{"global", "one shuffle of the whole set, the same for any number of workers", Scheme::global},
    Kind{"contiguous", "every worker shuffles a stretch of its own (contiguous:workers=5)", Scheme::contiguous},
    Kind{"by-label", "the same after sorting by label: each worker sees few classes (by-label:workers=5)",
         Scheme::by_label},
    Kind{"fraction", "every worker has a random share of its own (fraction=0.3:workers=5)", Scheme::fraction},
};

// The random streams of a worker: its choice of samples, and its order in each pass of each epoch.
enum Stream : std::uint64_t { kChoice, kFirstOrder };

base::CounterRng worker_stream(std::uint64_t seed, std::uint64_t epoch, int worker, std::uint64_t stream) {
  const base::CounterRng of_worker(seed, base::Purpose::shuffle, epoch, static_cast<std::uint64_t>(worker) + 1);
  return {of_worker.bits(stream), base::Purpose::shuffle};
}

// Samples sorted by label (stable).
std::vector<std::int64_t> sort_by_label(const Dataset& dataset) {
  if (dataset.spec().target != TargetKind::classes)
    base::user_error("--distribute by-label needs data with one class per sample; use contiguous");
  std::vector<float> labels;
  each_target(dataset, [&](std::int64_t, std::span<const float> target) { labels.push_back(target[0]); });
  std::vector<std::int64_t> order(labels.size());
  std::iota(order.begin(), order.end(), std::int64_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::int64_t a, std::int64_t b) {
    return labels[static_cast<std::size_t>(a)] < labels[static_cast<std::size_t>(b)];
  });
  return order;
}

}  // namespace

DistributionOptions parse_distribution(std::string_view text) {
  DistributionOptions options;
  const std::vector<std::string> items = base::split(text, ':');
  const std::string& head = items.front();
  const std::string name = head.substr(0, head.find('='));
  const auto kind = std::find_if(kKinds.begin(), kKinds.end(), [&](const Kind& k) { return name == k.name; });
  if (kind == kKinds.end()) {
    std::vector<std::string> names;
    for (const Kind& k : kKinds) names.emplace_back(k.name);
    base::user_error("{}", base::unknown_name("distribution", name, names));
  }
  options.scheme = kind->scheme;
  const bool has_value = head.find('=') != std::string::npos;
  if (has_value != (options.scheme == Scheme::fraction))
    base::user_error("the distribution '{}' {}", head,
                     has_value ? "takes no value" : "needs a share of the samples, for instance fraction=0.3");
  if (has_value)
    options.fraction = base::parse_fraction("the share of --distribute fraction", head.substr(name.size() + 1));
  if (!(options.fraction > 0 && options.fraction <= 1))
    base::user_error("--distribute {} is out of range, expected more than 0, at most 1", head);
  for (std::size_t i = 1; i < items.size(); ++i) {
    if (!items[i].starts_with("workers="))
      base::user_error("--distribute does not know '{}', only workers=N", items[i]);
    const std::int64_t workers = base::parse_int("the workers of --distribute", items[i].substr(8));
    if (workers < 1 || workers > kMostWorkers)
      base::user_error("--distribute with {} workers, expected 1 ... {}", workers, kMostWorkers);
    options.workers = static_cast<int>(workers);
  }
  return options;
}

std::vector<DistributionInfo> distribution_list() {
  std::vector<DistributionInfo> list;
  for (const Kind& kind : kKinds) list.push_back({kind.name, kind.description});
  return list;
}

Distribution::Distribution(const Dataset& dataset, const DistributionOptions& options, std::int64_t batch,
                           std::uint64_t seed, bool shuffle)
    : options_(options),
      size_(dataset.size()),
      batch_(std::min(batch, dataset.size())),
      seed_(seed),
      shuffle_(shuffle) {
  if (options_.scheme == Scheme::global) return;
  if (options_.workers > batch_)
    base::user_error("--distribute over {} workers, but a batch has {} samples; use fewer workers or a larger --batch",
                     options_.workers, batch_);
  if (options_.scheme == Scheme::by_label) sorted_ = sort_by_label(dataset);
  // The size of a worker's part is the sum of its shares of all batches, so that each sample is used once.
  std::int64_t begin = 0;
  for (int worker = 0; worker < options_.workers; ++worker) {
    const std::int64_t whole = share_of_worker(worker, options_.workers, batch_).size() * (size_ / batch_);
    const std::int64_t last = share_of_worker(worker, options_.workers, size_ % batch_).size();
    const std::int64_t samples =
        options_.scheme == Scheme::fraction
            ? std::max<std::int64_t>(1, std::llround(options_.fraction * static_cast<double>(size_)))
            : whole + last;
    parts_.push_back({begin, begin + samples});
    if (options_.scheme != Scheme::fraction) begin += samples;
  }
}

EpochOrder::EpochOrder(const Distribution& d, std::uint64_t epoch) : distribution_(&d), epoch_(epoch) {
  if (d.options_.scheme == Scheme::global) {
    orders_.push_back(epoch_order(d.size_, d.seed_, epoch, d.shuffle_));
    return;
  }
  for (int worker = 0; worker < d.options_.workers; ++worker) {
    const std::int64_t samples = d.parts_[static_cast<std::size_t>(worker)].size();
    if (d.options_.scheme == Scheme::fraction)  // the worker's samples, the same in all epochs
      orders_.emplace_back(d.size_, worker_stream(d.seed_, 0, worker, kChoice));
    else if (d.shuffle_)
      orders_.emplace_back(samples, worker_stream(d.seed_, epoch, worker, kFirstOrder));
    else
      orders_.emplace_back(samples);
  }
}

std::int64_t EpochOrder::operator()(std::int64_t position) const {
  const Distribution& d = *distribution_;
  if (d.options_.scheme == Scheme::global) return orders_.front()(position);
  base::check(position >= 0 && position < d.size_, "position {} of {}", position, d.size_);
  const std::int64_t step = position / d.batch_, in_batch = position % d.batch_;
  const std::int64_t samples = std::min(d.batch_, d.size_ - step * d.batch_);
  // The worker whose share the position lies in: floor(w * samples / workers) <= in_batch.
  const int workers = d.options_.workers;
  auto worker = static_cast<int>(in_batch * workers / samples);
  while (share_of_worker(worker, workers, samples).end <= in_batch) ++worker;
  const std::int64_t before = share_of_worker(worker, workers, d.batch_).size() * step;
  return of_worker(worker, before + in_batch - share_of_worker(worker, workers, samples).begin);
}

void EpochOrder::fill(std::int64_t first, std::span<std::int64_t> samples) const {
  if (distribution_->options_.scheme == Scheme::global) return orders_.front().fill(first, samples);
  for (std::int64_t& sample : samples) sample = (*this)(first++);
}

std::int64_t EpochOrder::of_worker(int worker, std::int64_t position) const {
  const Distribution& d = *distribution_;
  const base::Range part = d.parts_[static_cast<std::size_t>(worker)];
  const Permutation& order = orders_[static_cast<std::size_t>(worker)];
  if (d.options_.scheme == Scheme::fraction) {
    // The worker passes over its own samples repeatedly, in another order each time.
    const std::int64_t pass = position / part.size();
    const auto stream = kFirstOrder + static_cast<std::uint64_t>(pass);
    const Permutation shuffled = d.shuffle_
                                     ? Permutation(part.size(), worker_stream(d.seed_, epoch_ + 1, worker, stream))
                                     : Permutation(part.size());
    return order(shuffled(position % part.size()));
  }
  const std::int64_t place = part.begin + order(position);
  return d.sorted_.empty() ? place : d.sorted_[static_cast<std::size_t>(place)];
}

}  // namespace trireme::data
