// Who reads which sample: the same order for any number of workers, each sample once per epoch, also across a stop and
// a start with other workers; and the schemes that give workers parts of their own.
#include "data/sampling/distribution.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>

#include "data/dataset/columns.h"
#include "data/helpers.h"
#include "data/loading/loader.h"
#include "data/sampling/ledger.h"

namespace trireme::data {
namespace {

using Indices = std::vector<std::int64_t>;

DatasetPtr labelled(std::int64_t samples, std::int64_t classes) {
  DataSpec spec;
  spec.inputs = {{1, 1, 1}};
  spec.classes = classes;
  Bytes pixels(static_cast<std::size_t>(samples)), labels;
  for (std::int64_t i = 0; i < samples; ++i) labels.push_back(static_cast<std::uint8_t>((i * 7) % classes));
  return image_source(spec, pixels, labels);
}

struct Stop {
  std::int64_t epoch = 0, position = 0;
};

// Of every batch, the share of one worker.
LoaderOptions options_of(int worker, int workers, std::int64_t batch, std::int64_t size, Stop from,
                         const std::string& scheme) {
  LoaderOptions options;
  options.batch = batch;
  options.seed = 11;
  options.distribution = parse_distribution(scheme);
  options.slices = [=]() mutable {
    if (from.position == size) from = {from.epoch + 1, 0};
    const std::int64_t samples = std::min(batch, size - from.position);
    const Slice slice{0, from.epoch, from.position, samples, share_of_worker(worker, workers, samples)};
    from.position += samples;
    return std::optional(slice);
  };
  return options;
}

// What `workers` together use from one stop to the next, in the order of the batches, and their ledger of the epoch
// under way.
Indices use(const DatasetPtr& set, int workers, std::int64_t batch, Stop from, Stop to, Ledger& ledger,
            const std::string& scheme = "global") {
  std::vector<std::unique_ptr<Loader>> loaders;
  std::vector<Ledger> ledgers(static_cast<std::size_t>(workers), Ledger(set->size()));
  for (int w = 0; w < workers; ++w) {
    loaders.push_back(std::make_unique<Loader>(set, options_of(w, workers, batch, set->size(), from, scheme)));
  }
  Indices used;
  while (from.epoch < to.epoch || from.position < to.position) {
    std::int64_t samples = 0;
    for (std::size_t w = 0; w < loaders.size(); ++w) {
      const Batch* got = loaders[w]->next();
      EXPECT_EQ(got->epoch, from.epoch);
      EXPECT_EQ(got->position, from.position + samples) << "shares follow each other";
      EXPECT_EQ(got->batch_samples, std::min(batch, set->size() - from.position));
      samples += got->samples;
      used.insert(used.end(), got->indices.begin(), got->indices.end());
      ledgers[w].use(got->position, got->indices);
    }
    from.position += samples;
    if (from.position < set->size()) continue;
    for (Ledger& each : ledgers) ledger.add(each), each.clear();
    if (scheme.starts_with("fraction")) {
      EXPECT_EQ(ledger.report().used, set->size());
    } else {
      EXPECT_EQ(ledger.report().once, set->size()) << "each sample once in epoch " << from.epoch;
      EXPECT_EQ(ledger.report().repeated, 0);
    }
    ledger.clear();
    from = {from.epoch + 1, 0};
  }
  for (const Ledger& each : ledgers) ledger.add(each);
  return used;
}

TEST(Distribution, ThreeEpochsAreTheSameForAnyNumberOfWorkers) {
  for (const std::int64_t batch : {8, 25, 64, 1000}) {
    const DatasetPtr set = labelled(317, 10);
    Ledger ledger(317);
    const Indices one = use(set, 1, batch, {}, {3, 0}, ledger);
    ASSERT_EQ(one.size(), 3u * 317);
    for (const int workers : {2, 3, 5, 8}) EXPECT_EQ(use(set, workers, batch, {}, {3, 0}, ledger), one) << workers;
  }
}

TEST(Distribution, AStopInTheMiddleAndOtherWorkersChangeNothing) {
  const DatasetPtr set = labelled(317, 10);
  Ledger ledger(317);
  const Indices unbroken = use(set, 1, 20, {}, {3, 0}, ledger);
  Indices parts;
  const auto append = [&](int workers, Stop from, Stop to) {
    const Indices more = use(set, workers, 20, from, to, ledger);
    parts.insert(parts.end(), more.begin(), more.end());
  };
  append(3, {}, {1, 120});
  // The ledger goes through a checkpoint in the middle of the epoch.
  const LedgerReport before = ledger.report();
  EXPECT_EQ(before.used, 120);
  EXPECT_EQ(before.once, 120);
  Ledger restored(317);
  restored.restore(ledger.text());
  EXPECT_EQ(restored.report().order, before.order);
  ledger = restored;
  append(5, {1, 120}, {1, 200});
  append(8, {1, 200}, {3, 0});
  EXPECT_EQ(parts, unbroken);
}

TEST(Distribution, TheLedgersOrderIsThatOfTheSamples) {
  const DatasetPtr set = labelled(50, 5);
  Ledger one(50), five(50), other(50);
  use(set, 1, 16, {}, {0, 48}, one);
  use(set, 5, 16, {}, {0, 48}, five);
  EXPECT_EQ(one.report().order, five.report().order);
  Indices swapped(50);
  std::iota(swapped.begin(), swapped.end(), std::int64_t{0});
  other.use(0, swapped);
  std::swap(swapped[3], swapped[4]);
  Ledger changed(50);
  changed.use(0, swapped);
  EXPECT_NE(other.report().order, changed.report().order);
}

TEST(Ledger, CountsWhatIsMissedAndRepeated) {
  Ledger ledger(130);
  ledger.use(0, Indices{0, 64, 129});
  ledger.use(3, Indices{64, 5});
  Ledger second(130);
  second.use(5, Indices{5, 6});
  ledger.add(second);
  const LedgerReport report = ledger.report();
  EXPECT_EQ(report.used, 7);
  EXPECT_EQ(report.once, 3);
  EXPECT_EQ(report.repeated, 2);
  EXPECT_EQ(report.missed(), 125);
  Ledger small(3);
  expect_user_error([&] { small.restore(ledger.text()); }, {"another size"});
  expect_user_error([&] { small.restore("1 2"); }, {"damaged"});
  expect_user_error([&] { small.restore("1 2 000000000000000x 0000000000000000"); }, {"damaged"});
}

// The parts of the workers: their samples over an epoch.
std::vector<std::set<std::int64_t>> parts(const Dataset& set, const std::string& scheme, std::int64_t batch,
                                          std::uint64_t epoch = 0) {
  const DistributionOptions options = parse_distribution(scheme);
  const Distribution distribution(set, options, batch, 5, true);
  const EpochOrder order = distribution.order(epoch);
  std::vector<std::set<std::int64_t>> all(static_cast<std::size_t>(options.workers));
  for (std::int64_t position = 0; position < set.size(); ++position) {
    const std::int64_t first = position / batch * batch, samples = std::min(batch, set.size() - first);
    for (int w = 0; w < options.workers; ++w) {
      const base::Range share = share_of_worker(w, options.workers, samples);
      if (position - first >= share.begin && position - first < share.end)
        all[static_cast<std::size_t>(w)].insert(order(position));
    }
  }
  return all;
}

TEST(Distribution, ContiguousPartsAreStretchesAndShuffled) {
  const DatasetPtr set = labelled(317, 10);
  for (const int workers : {1, 2, 3, 5, 8}) {
    const std::string scheme = "contiguous:workers=" + std::to_string(workers);
    std::int64_t next = 0;
    for (const auto& part : parts(*set, scheme, 25)) {
      EXPECT_EQ(*part.begin(), next);
      EXPECT_EQ(*part.rbegin() - *part.begin() + 1, static_cast<std::int64_t>(part.size()));
      next += static_cast<std::int64_t>(part.size());
    }
    EXPECT_EQ(next, 317);
    Ledger ledger(317);
    const Indices epochs = use(set, workers, 25, {}, {2, 0}, ledger, scheme);
    EXPECT_FALSE(std::equal(epochs.begin(), epochs.begin() + 317, epochs.begin() + 317)) << "another order each epoch";
  }
}

TEST(Distribution, ByLabelGivesWorkersFewClasses) {
  const DatasetPtr set = labelled(400, 10);
  const auto all = parts(*set, "by-label:workers=5", 40);
  std::set<std::int64_t> seen;
  for (const auto& part : all) {
    std::set<float> labels;
    for (const std::int64_t index : part) {
      labels.insert(fetch_sample(*set, index).target[0]);
      seen.insert(index);
    }
    EXPECT_LE(labels.size(), 3u);
    EXPECT_EQ(part.size(), 80u);
  }
  EXPECT_EQ(seen.size(), 400u);
  Ledger ledger(400);
  use(set, 5, 40, {}, {2, 0}, ledger, "by-label:workers=5");
}

TEST(Distribution, AFractionIsChosenOnceAndRepeats) {
  const DatasetPtr set = labelled(300, 10);
  const auto first = parts(*set, "fraction=10%:workers=3", 30), second = parts(*set, "fraction=10%:workers=3", 30, 1);
  for (std::size_t w = 0; w < 3; ++w) {
    EXPECT_EQ(first[w].size(), 30u);
    EXPECT_EQ(first[w], second[w]);
  }
  EXPECT_NE(first[0], first[1]);
  for (const auto& part : parts(*set, "fraction=1:workers=3", 30)) EXPECT_EQ(part.size(), 100u) << "no pass is over";
}

TEST(Distribution, ReadsItsText) {
  EXPECT_EQ(parse_distribution("global").workers, 1);
  EXPECT_EQ(parse_distribution("by-label:workers=7").workers, 7);
  EXPECT_EQ(parse_distribution("fraction=0.25").fraction, 0.25);
  expect_user_error([] { parse_distribution("by-lable"); }, {"did you mean 'by-label'"});
  expect_user_error([] { parse_distribution("contiguous=3"); }, {"takes no value"});
  expect_user_error([] { parse_distribution("fraction"); }, {"fraction=0.3"});
  expect_user_error([] { parse_distribution("fraction=0"); }, {"out of range"});
  expect_user_error([] { parse_distribution("contiguous:workers=0"); }, {"0 workers"});
  expect_user_error([] { parse_distribution("contiguous:threads=2"); }, {"threads=2"});
  const DatasetPtr set = labelled(100, 10);
  expect_user_error([&] { Distribution(*set, parse_distribution("contiguous:workers=9"), 8, 1, true); },
                    {"9 workers", "8 samples"});
}

}  // namespace
}  // namespace trireme::data
