#include "strategy/common/sync_step.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "base/error.h"
#include "base/index.h"
#include "base/system/clock.h"

namespace trireme::strategy {
namespace {

using base::at;

// The head of a note. The losses of all oars follow, then their counts of correct answers.
enum NoteField : std::size_t {
  kStop,
  kArrived,
  kUnderWay,
  kSeconds,  // in the order of observe::kStepTimes
  kFields = kSeconds + observe::kStepTimes.size()
};

}  // namespace

std::vector<Bucket> buckets_of(const WorkerContext& worker, std::int64_t bucket_bytes) {
  return cut_into_buckets(
      worker.replica, {.bytes = bucket_bytes > 0 ? bucket_bytes : kBucketBytes, .workers = worker.roles.all_workers()});
}

SyncStep::SyncStep(const WorkerContext& worker, std::vector<Bucket> buckets, std::span<float> memory)
    : worker_(worker),
      buckets_(std::move(buckets)),
      count_(buckets_, worker.replica.chunks().size()),
      spans_(worker, buckets_),
      memory_(memory) {
  for (std::size_t b = 0; b < buckets_.size(); ++b)
    base::check(std::ranges::find(buckets_[b].workers, worker.worker) != buckets_[b].workers.end(),
                "worker {} has nothing to add to bucket {}", worker.worker, b);
}

const comm::ExactPlan& SyncStep::plan(std::int64_t step, std::int64_t samples) {
  return plans_.get(worker_.replica.oars(), samples, worker_.assignment.shares(step));
}

std::span<float> SyncStep::partial(std::size_t p) const {
  const std::size_t floats = at(worker_.replica.space().floats());
  base::check((p + 1) * floats <= memory_.size(), "partial {} of {} floats in memory for {}", p, floats,
              memory_.size());
  return memory_.subspan(p * floats, floats);
}

std::span<float> SyncStep::partial(std::size_t p, base::Range floats) const {
  return partial(p).subspan(at(floats.begin), at(floats.size()));
}

std::int32_t SyncStep::expect(const Work& work, const crew::Share& share) const {
  return static_cast<std::int32_t>(worker_.replica.partials(work.batch.samples, share).size());
}

crew::ComputeReport SyncStep::compute(const Work& work, const crew::Share& share,
                                      std::function<void(std::size_t)> ready) {
  return compute(work, share, std::move(ready), [](std::span<const int>) {}, {});
}

crew::ComputeReport SyncStep::compute(const Work& work, const crew::Share& share,
                                      std::function<void(std::size_t)> ready, crew::Replica::NeedWeights need,
                                      std::vector<std::size_t> order) {
  crew::Replica& replica = worker_.replica;
  partials_ = static_cast<std::size_t>(expect(work, share));
  count_.start(
      [this, step = work.step, ready = std::move(ready)](std::size_t bucket) {
        spans_.ready(bucket, step);
        ready(bucket);
      },
      std::move(order));
  const auto take = [&](const crew::Chunk& chunk, std::span<const float* const> sums) {
    const base::Range floats{chunk.offset, chunk.offset + chunk.count};
    for (std::size_t p = 0; p < sums.size(); ++p)
      if (float* to = partial(p, floats).data(); to != sums[p])
        std::memcpy(to, sums[p], at(chunk.count) * sizeof(float));
    if (sums.empty()) std::ranges::fill(partial(0, floats), 0.0f);
    count_.chunk_done(chunk.index);
  };
  const crew::ComputeReport report = replica.compute(work.batch, work.random, share, take, need);
  const auto statistics = replica.statistics_sums();
  const base::Range place{replica.space().trained_floats(), replica.space().floats()};
  if (place.empty()) return report;
  for (std::size_t p = 0; p < statistics.size(); ++p)
    std::memcpy(partial(p, place).data(), statistics[p], at(place.size()) * sizeof(float));
  if (statistics.empty()) std::ranges::fill(partial(0, place), 0.0f);
  count_.statistics_done();
  return report;
}

void SyncStep::add_up(comm::Collectives& group, std::size_t bucket, const comm::ExactPlan& plan,
                      comm::Algorithm algorithm) const {
  const std::span<float> result = partial(0, buckets_[bucket].floats);
  if (!worker_.exact)
    return spans_.reduce(group, bucket, [&] { group.all_reduce(result, comm::Reduction::sum, algorithm); });
  add_up(group, bucket, plan, partials_, result, nullptr);
}

void SyncStep::add_up(comm::Collectives& group, std::size_t bucket, const comm::ExactPlan& plan, std::size_t partials,
                      std::span<float> result, const comm::UseSum& use) const {
  spans_.reduce(group, bucket, [&] { group.exact_all_reduce(plan, of_bucket(bucket, partials), result, use); });
}

void SyncStep::use_sum(comm::Collectives& group, std::size_t bucket, const comm::ExactPlan& plan, std::size_t partials,
                       const comm::UseSum& use) const {
  spans_.reduce(group, bucket,
                [&] { group.exact_use(plan, of_bucket(bucket, partials), buckets_[bucket].floats.size(), use); });
}

std::vector<std::span<float>> SyncStep::of_bucket(std::size_t bucket, std::size_t partials) const {
  std::vector<std::span<float>> own;
  for (std::size_t p = 0; p < partials; ++p) own.push_back(partial(p, buckets_[bucket].floats));
  return own;
}

std::size_t SyncStep::note_size() const { return kFields + 2 * at(worker_.replica.oars()); }

std::vector<double> SyncStep::write_note(const Work& work, const crew::ComputeReport& computed,
                                         const StepSeconds& before, std::size_t under_way) const {
  std::vector<double> note(note_size());
  note[kStop] = work.wants_stop ? 1 : 0;
  note[kArrived] = std::bit_cast<double>(base::now_ns());
  const StepSeconds seconds = seconds_so_far(work, computed, before);
  for (std::size_t i = 0; i < observe::kStepTimes.size(); ++i)
    note[kSeconds + i] = seconds.*observe::kStepTimes[i].seconds;
  note[kUnderWay] = static_cast<double>(under_way);
  const std::size_t oars = at(worker_.replica.oars());
  for (std::int64_t oar = work.oars.begin; oar < work.oars.end; ++oar) {
    note[kFields + at(oar)] = worker_.replica.oar_losses()[at(oar)];
    note[kFields + oars + at(oar)] = worker_.replica.oar_corrects()[at(oar)];
  }
  return note;
}

void SyncStep::read_notes(std::span<const double> all, const Work& work, StepReport& report) const {
  const int oars = worker_.replica.oars();
  const std::vector<base::Range> shares = worker_.assignment.shares(work.step);
  std::vector<double> loss(at(oars)), correct(at(oars));
  for (std::size_t w = 0; w < shares.size(); ++w) {
    const std::span<const double> note = all.subspan(w * note_size(), note_size());
    for (std::int64_t oar = shares[w].begin; oar < shares[w].end; ++oar) {
      loss[at(oar)] = note[kFields + at(oar)];
      correct[at(oar)] = note[kFields + at(oars) + at(oar)];
    }
    StepSeconds seconds;
    for (std::size_t i = 0; i < observe::kStepTimes.size(); ++i)
      seconds.*observe::kStepTimes[i].seconds = note[kSeconds + i];
    report.notes.push_back({seconds, std::bit_cast<std::int64_t>(note[kArrived]), note[kStop] != 0,
                            static_cast<std::size_t>(note[kUnderWay])});
    report.must_stop |= note[kStop] != 0;
  }
  const auto empty = [&](int oar) { return base::oar_samples(oar, oars, work.batch.samples).empty(); };
  const auto tree_sum = [&](const std::vector<double>& values) {
    return base::oar_tree_sum<double>(
        0, oars, [&](int oar) { return values[at(oar)]; }, empty, [](double a, double b) { return a + b; });
  };
  report.loss = tree_sum(loss);
  report.correct = tree_sum(correct);
  report.samples = work.batch.samples;
}

}  // namespace trireme::strategy
