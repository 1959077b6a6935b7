#include "data/loading/loader.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <random>
#include <thread>

#include "data/helpers.h"
#include "data/sampling/sampler.h"
#include "data/stages/prepare.h"

namespace trireme::data {
namespace {

using Shapes = std::vector<tensor::Shape>;

DatasetPtr counting(std::int64_t samples, Shapes shapes = {{2, 3}, {5}}) {
  return std::make_shared<CountingDataset>(std::move(shapes), samples);
}

// What is left of a batch when its buffers are gone.
struct Seen {
  std::int64_t epoch, position, samples;
  std::vector<std::int64_t> indices;
  std::vector<float> input, target;
  bool operator==(const Seen&) const = default;
};

Seen look(const Batch& batch, const Dataset& dataset) {
  const auto n = static_cast<std::size_t>(batch.samples * dataset.spec().inputs[0].count());
  return {batch.epoch,
          batch.position,
          batch.samples,
          batch.indices,
          {batch.inputs[0].floats(), batch.inputs[0].floats() + n},
          {batch.target.floats(), batch.target.floats() + batch.samples}};
}

std::vector<Seen> drain(const DatasetPtr& dataset, const LoaderOptions& options) {
  Loader loader(dataset, options);
  std::vector<Seen> seen;
  while (const Batch* batch = loader.next()) seen.push_back(look(*batch, *dataset));
  EXPECT_EQ(loader.next(), nullptr);
  return seen;
}

TEST(Loader, GivesEverySampleOncePerEpochInTheSamplersOrder) {
  const DatasetPtr dataset = counting(10);
  Loader loader(dataset, {.batch = 4, .seed = 5, .epochs = 2});
  for (std::int64_t epoch = 0; epoch < 2; ++epoch) {
    const Permutation order = epoch_order(10, 5, static_cast<std::uint64_t>(epoch), true);
    for (std::int64_t position = 0; position < 10; position += 4) {
      const Batch* batch = loader.next();
      ASSERT_NE(batch, nullptr);
      EXPECT_EQ(batch->epoch, epoch);
      EXPECT_EQ(batch->position, position);
      ASSERT_EQ(batch->samples, std::min<std::int64_t>(4, 10 - position));
      ASSERT_EQ(batch->indices.size(), static_cast<std::size_t>(batch->samples));
      for (std::int64_t i = 0; i < batch->samples; ++i) {
        const std::int64_t index = order(position + i);
        EXPECT_EQ(batch->indices[static_cast<std::size_t>(i)], index);
        for (std::int64_t k = 0; k < 6; ++k)
          EXPECT_EQ(batch->inputs[0].floats()[i * 6 + k], CountingDataset::value(index, 0, k));
        for (std::int64_t k = 0; k < 5; ++k)
          EXPECT_EQ(batch->inputs[1].floats()[i * 5 + k], CountingDataset::value(index, 1, k));
        EXPECT_EQ(batch->target.floats()[i], static_cast<float>(index));
      }
    }
  }
  EXPECT_EQ(loader.next(), nullptr);
  EXPECT_EQ(loader.next(), nullptr);
  EXPECT_GE(loader.waited_seconds(), 0.0);
}

TEST(Loader, KeepsOrDropsTheLastBatch) {
  for (const std::int64_t size : {1, 7, 8, 9, 100})
    for (const std::int64_t batch : {1, 3, 8})
      for (const bool drop : {false, true}) {
        if (drop && batch > size) continue;
        const auto seen = drain(counting(size), {.batch = batch, .drop_last = drop, .epochs = 3});
        const std::int64_t steps = batches_per_epoch(size, batch, drop);
        EXPECT_EQ(steps, drop ? size / batch : (size + batch - 1) / batch);
        EXPECT_EQ(static_cast<std::int64_t>(seen.size()), 3 * steps);
        std::int64_t samples = 0;
        for (const Seen& s : seen) samples += s.samples;
        EXPECT_EQ(samples, 3 * (drop ? steps * batch : size));
      }
}

TEST(Loader, ABatchLargerThanTheSetIsTheWholeSet) {
  const auto seen = drain(counting(3), {.batch = 1'000'000'000'000, .epochs = 2});
  ASSERT_EQ(seen.size(), 2u);
  EXPECT_EQ(seen[1].samples, 3);
  expect_user_error([] { Loader(counting(3), {.batch = 4, .drop_last = true}); }, {"batch of 4", "3 samples"});
}

TEST(Loader, ResumesInTheMiddleOfAnEpoch) {
  const DatasetPtr dataset = augment(counting(11, {{1, 4, 4}}), "crop=1,flip");
  LoaderOptions options{.batch = 3, .seed = 2, .epochs = 3};
  const auto whole = drain(dataset, options);
  for (std::size_t used = 0; used <= whole.size(); ++used) {
    // The state after `used` batches: the epoch and the samples used in it.
    options.start_epoch = used == 0 ? 0 : whole[used - 1].epoch;
    options.start_position = used == 0 ? 0 : whole[used - 1].position + whole[used - 1].samples;
    const auto rest = drain(dataset, options);
    EXPECT_EQ(rest, std::vector<Seen>(whole.begin() + static_cast<std::ptrdiff_t>(used), whole.end())) << used;
  }
}

TEST(Loader, ResumesWhereOnlyADroppedRestIsLeft) {
  const auto seen = drain(counting(11), {.batch = 3, .drop_last = true, .epochs = 2, .start_position = 9});
  ASSERT_EQ(seen.size(), 3u);
  EXPECT_EQ(seen[0].epoch, 1);
  EXPECT_EQ(seen[0].position, 0);
}

TEST(Loader, DepthDoesNotChangeTheBatches) {
  const DatasetPtr dataset = augment(counting(20, {{1, 4, 4}}), "crop=1");
  const auto one = drain(dataset, {.batch = 3, .epochs = 2, .depth = 1});
  EXPECT_EQ(one, drain(dataset, {.batch = 3, .epochs = 2, .depth = 16}));
}

TEST(Loader, ABatchStaysUntouchedUntilTheNextCall) {
  const DatasetPtr dataset = counting(64);
  Loader loader(dataset, {.batch = 2, .epochs = 1, .depth = 1});
  for (int i = 0; i < 10; ++i) {
    const Batch* batch = loader.next();
    const Seen before = look(*batch, *dataset);
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    EXPECT_EQ(before, look(*batch, *dataset));
  }
}

TEST(Loader, ReusesItsMemory) {
  Loader loader(counting(100), {.batch = 7, .depth = 2});
  std::vector<const void*> seen;
  for (int i = 0; i < 200; ++i) {
    const Batch* batch = loader.next();
    for (const void* p :
         {static_cast<const void*>(batch->inputs[0].data()), static_cast<const void*>(batch->indices.data())})
      if (std::find(seen.begin(), seen.end(), p) == seen.end()) seen.push_back(p);
  }
  EXPECT_EQ(seen.size(), 6u);  // depth + 1 batches
}

TEST(Loader, ZeroEpochsAndAStartBehindTheEndGiveNothing) {
  EXPECT_TRUE(drain(counting(5), {.batch = 2, .epochs = 0}).empty());
  EXPECT_TRUE(drain(counting(5), {.batch = 2, .epochs = 2, .start_epoch = 7}).empty());
  EXPECT_TRUE(drain(counting(5), {.batch = 2, .epochs = 1, .start_position = 5}).empty());
}

TEST(Loader, WithoutShuffleGivesTheSourcesOrder) {
  const auto seen = drain(counting(5), {.batch = 2, .shuffle = false, .epochs = 1});
  ASSERT_EQ(seen.size(), 3u);
  EXPECT_EQ(seen[1].indices, (std::vector<std::int64_t>{2, 3}));
  EXPECT_EQ(seen[2].indices, (std::vector<std::int64_t>{4}));
}

TEST(Loader, StopsWhenNobodyListens) {
  for (int i = 0; i < 20; ++i) {
    Loader loader(counting(1000), {.batch = 8});
    for (int k = 0; k < i % 4; ++k) ASSERT_NE(loader.next(), nullptr);
  }
}

// Parts of batches in any order, with what the loader in order gives at the same places.
TEST(LoaderSlices, GiveTheSamplesOfTheirPlaces) {
  constexpr std::int64_t kSize = 23, kBatch = 5, kEpochs = 3;
  const DatasetPtr dataset = augment(counting(kSize, {{1, 4, 4}}), "crop=1,flip");
  const auto whole = drain(dataset, {.batch = kBatch, .seed = 4, .epochs = kEpochs});
  std::vector<Slice> slices;
  for (std::size_t i = 0; i < whole.size(); ++i)
    for (std::int64_t begin = 0; begin <= whole[i].samples; ++begin)
      for (std::int64_t end = begin; end <= whole[i].samples; ++end)
        slices.push_back(
            {static_cast<std::int64_t>(1000 + i), whole[i].epoch, whole[i].position, whole[i].samples, {begin, end}});
  std::shuffle(slices.begin(), slices.end(), std::mt19937(3));
  LoaderOptions options{.batch = kBatch, .seed = 4};
  std::size_t asked = 0, calls = 0;
  options.slices = [&]() -> std::optional<Slice> {
    ++calls;
    return asked < slices.size() ? std::optional(slices[asked++]) : std::nullopt;
  };
  Loader loader(dataset, options);
  for (const Slice& slice : slices) {
    const Batch* batch = loader.next();
    ASSERT_NE(batch, nullptr);
    const Seen seen = look(*batch, *dataset);
    const Seen& from = whole[static_cast<std::size_t>(slice.number - 1000)];
    const auto cut = [&](const auto& all, std::int64_t each) {
      return std::decay_t<decltype(all)>(all.begin() + slice.part.begin * each, all.begin() + slice.part.end * each);
    };
    EXPECT_EQ(seen, (Seen{from.epoch, from.position + slice.part.begin, slice.part.size(), cut(from.indices, 1),
                          cut(from.input, 16), cut(from.target, 1)}));
    EXPECT_EQ(batch->number, slice.number);
    EXPECT_EQ(batch->first, slice.part.begin);
    EXPECT_EQ(batch->batch_samples, slice.batch_samples);
  }
  EXPECT_EQ(loader.next(), nullptr);
  EXPECT_EQ(loader.next(), nullptr);
  EXPECT_EQ(calls, slices.size() + 1) << "asked again after the end";
}

TEST(LoaderSlices, MayBeEmptyAndEndAtOnce) {
  LoaderOptions options{.batch = 4};
  int asked = 0;
  options.slices = [&]() -> std::optional<Slice> {
    const std::int64_t at = ++asked % 5;
    return asked <= 20 ? std::optional(Slice{asked, 0, 0, 4, {at, at}}) : std::nullopt;
  };
  Loader loader(counting(10), options);
  for (int i = 1; i <= 20; ++i) {
    const Batch* batch = loader.next();
    ASSERT_NE(batch, nullptr);
    EXPECT_EQ(batch->number, i);
    EXPECT_EQ(batch->samples, 0);
    EXPECT_EQ(batch->batch_samples, 4);
    EXPECT_TRUE(batch->indices.empty());
  }
  EXPECT_EQ(loader.next(), nullptr);
  int calls = 0;
  options.slices = [&]() -> std::optional<Slice> { return ++calls, std::nullopt; };
  Loader nothing(counting(10), options);
  EXPECT_EQ(nothing.next(), nullptr);
  EXPECT_EQ(nothing.next(), nullptr);
  EXPECT_EQ(calls, 1);
}

TEST(LoaderSlices, TheirErrorsSurfaceAfterTheBatchesBefore) {
  for (const int good : {0, 1, 5}) {
    LoaderOptions options{.batch = 2};
    int asked = 0;
    options.slices = [&]() -> std::optional<Slice> {
      if (asked++ == good) base::user_error("no slice {}", good);
      return Slice{0, 0, 0, 2, {0, 2}};
    };
    Loader loader(counting(10), options);
    for (int i = 0; i < good; ++i) ASSERT_NE(loader.next(), nullptr);
    for (int i = 0; i < 2; ++i) expect_user_error([&] { loader.next(); }, {"no slice"});
  }
}

TEST(LoaderSlices, OutsideTheSetAreRefused) {
  const std::vector<Slice> wrong = {{0, 0, 0, 5, {0, 1}}, {0, 0, 8, 4, {0, 1}},  {0, 0, 0, 4, {0, 5}},
                                    {0, 0, 0, 4, {3, 2}}, {0, 0, -1, 4, {0, 4}}, {0, -1, 0, 4, {0, 4}}};
  for (const Slice& slice : wrong) {
    LoaderOptions options{.batch = 4};
    options.slices = [&] { return std::optional(slice); };
    Loader loader(counting(10), options);
    EXPECT_THROW(loader.next(), base::Error);
  }
}

// Decided only when the batch before was used; and a loader that goes while its thread waits for a decision.
TEST(LoaderSlices, MayBeWaitedFor) {
  std::mutex mutex;
  std::condition_variable news;
  std::int64_t decided = 1, asked = 0;
  bool is_over = false;
  LoaderOptions options{.batch = 4};
  options.slices = [&]() -> std::optional<Slice> {
    std::unique_lock lock(mutex);
    news.wait(lock, [&] { return asked < decided || is_over; });
    if (is_over) return std::nullopt;
    return Slice{asked++, 0, 0, 4, {0, 4}};
  };
  {
    Loader loader(counting(10), options);
    for (std::int64_t i = 0; i < 20; ++i) {
      ASSERT_EQ(loader.next()->number, i);
      {
        const std::lock_guard lock(mutex);
        ++decided;
      }
      news.notify_one();
    }
    {
      const std::lock_guard lock(mutex);
      is_over = true;
    }
    news.notify_one();
  }
  EXPECT_GE(asked, 20);
}

// Fails at one sample, and is slow on request.
class Troubled : public CountingDataset {
 public:
  Troubled(std::int64_t bad, int milliseconds) : CountingDataset({{2}}, 100), bad_(bad), milliseconds_(milliseconds) {}
  void fetch(std::int64_t index, const AugmentationSeed& random, std::span<float* const> inputs,
             float* target) const override {
    if (index == bad_) base::user_error("sample {} cannot be read", index);
    std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds_));
    CountingDataset::fetch(index, random, inputs, target);
  }

 private:
  std::int64_t bad_;
  int milliseconds_;
};

TEST(Loader, AnErrorOfTheThreadSurfacesAfterTheBatchesBeforeIt) {
  Loader loader(std::make_shared<Troubled>(25, 0), {.batch = 10, .shuffle = false});
  EXPECT_NE(loader.next(), nullptr);
  EXPECT_NE(loader.next(), nullptr);
  for (int i = 0; i < 2; ++i) expect_user_error([&] { loader.next(); }, {"sample 25"});
}

TEST(Loader, CountsTheSecondsWaitedAndStopsInsideABatch) {
  const auto start = std::chrono::steady_clock::now();
  {
    Loader loader(std::make_shared<Troubled>(-1, 5), {.batch = 10});
    loader.next();
    EXPECT_GT(loader.waited_seconds(), 0.03);
  }
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(2));
  const auto slow = std::chrono::steady_clock::now();
  { const Loader loader(std::make_shared<Troubled>(-1, 20), {.batch = 100}); }
  EXPECT_LT(std::chrono::steady_clock::now() - slow, std::chrono::seconds(1));  // a whole batch takes two
}

TEST(Loader, BadOptionsAreUserErrors) {
  expect_user_error([] { Loader(counting(3), {.batch = 0}); }, {"batch is 0"});
  expect_user_error([] { Loader(counting(0), {.batch = 1}); }, {"empty"});
  expect_user_error([] { Loader(counting(3), {.batch = 1, .depth = 0}); }, {"depth"});
  expect_user_error([] { Loader(counting(3), {.batch = 1, .start_position = 4}); }, {"sample 4 of 3"});
  expect_user_error([] { Loader(counting(3), {.batch = 1, .epochs = -2}); }, {"-2"});
}

}  // namespace
}  // namespace trireme::data
