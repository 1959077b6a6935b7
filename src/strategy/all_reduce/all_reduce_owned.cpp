// The owned form of allreduce. Buckets of gradients are reduced over all workers while backward runs. The worker that
// reduces a slice of a bucket also updates the slice's weights, and sends these instead of the sum. That is safe: once
// all gradients of a bucket are complete, no layer reads its weights in this step any more. So during an interval each
// worker keeps the optimizer's state of its own slices up to date only; end_interval() completes it. When all workers
// run on one host, they share one copy of the weights.
//
// A step ends when its gradients are complete. The next step's forward waits, layer by layer, for weights that are
// still in flight; those that it needs first are sent first.
#include <algorithm>
#include <atomic>
#include <mutex>
#include <optional>
#include <utility>

#include "base/index.h"
#include "base/system/clock.h"
#include "strategy/all_reduce/all_reduce.h"
#include "strategy/common/sync_step.h"

namespace trireme::strategy {
namespace {

// The order of buckets is changed when at least this many are in flight at the end of backward. The last bucket always
// is, and the one before it may be.
constexpr std::size_t kMany = 3;

using base::at;

double seconds(std::int64_t ns) { return 1e-9 * static_cast<double>(ns); }

class OwnedAllReduce : public Strategy {
 public:
  OwnedAllReduce(const WorkerContext& worker, const AllReduceOptions& options)
      : worker_(worker),
        step_(worker, buckets_of(worker, options.bucket_bytes), worker.gradients),
        trained_(trained_buckets(step_.buckets())),
        buckets_of_(at(worker.replica.space().size())),
        is_stale_(at(worker.replica.space().size())),
        pending_(step_.buckets().size()),
        all_notes_(step_.note_size() * at(worker.roles.workers)) {
    worker_.updater.ensure_state();
    worker_.replica.place_gradient(step_.partial(0).data());
    if (shares_weights()) gather_weights();
    const std::vector<crew::Chunk>& chunks = worker_.replica.chunks();
    std::vector<bool> is_reached(chunks.size(), true);
    for (const int chunk : worker_.replica.gradient_order().unread) is_reached[at(chunk)] = false;
    for (std::size_t b = 0; b < trained_; ++b) {
      bool is_read = false;
      const base::Range of_bucket = step_.buckets()[b].chunks;
      for (std::int64_t c = of_bucket.begin; c < of_bucket.end; ++c) {
        std::vector<std::size_t>& buckets = buckets_of_[at(chunks[at(c)].parameter)];
        if (buckets.empty() || buckets.back() != b) buckets.push_back(b);
        is_read = is_read || is_reached[at(c)];
      }
      if (!is_read) unread_.push_back(b);
    }
  }

  // Background collectives use this object, so they must end first.
  ~OwnedAllReduce() override {
    for (std::size_t b = 0; b < pending_.size(); ++b) try {
        wait_for(b);
      } catch (...) {  // the failure was reported already
      }
    worker_.replica.place_gradient(nullptr);
    if (shares_weights()) worker_.replica.move_weights(own_weights_);
  }

  StepReport step(const Work& work) override {
    const comm::ExactPlan& plan = step_.plan(work.step, work.batch.samples);
    const crew::Share share{work.oars};
    const auto partials = at(step_.expect(work, share));
    if (partials == 0 || trained_ == 0) finish();  // no layer runs here that would wait for its weights
    for (const std::size_t b : unread_) wait_for(b);
    const optim::StepScalars scalars = worker_.updater.scalars(work.step, work.lr);
    busy_ns_.store(0, std::memory_order_relaxed);
    update_ns_.store(0, std::memory_order_relaxed);
    forms_ns_.store(0, std::memory_order_relaxed);
    const crew::ComputeReport computed = step_.compute(
        work, share,
        [&](std::size_t bucket) {
          if (bucket == order_.front()) finish();
          start(bucket, plan, partials, scalars);
        },
        [this](std::span<const int> parameters) { need(parameters); }, order_);
    samples_ = work.batch.samples;
    is_stale_.assign(is_stale_.size(), true);
    const std::int64_t start_ns = base::now_ns();
    const std::vector<double> note = step_.write_note(work, computed, before_, under_way());
    worker_.group.all_gather(std::as_bytes(std::span(note)), std::as_writable_bytes(std::span(all_notes_)));
    StepReport report;
    step_.read_notes(all_notes_, work, report);
    late_ = report.notes[0].under_way;
    for (const WorkerStepReport& one : report.notes) late_ = std::min(late_, one.under_way);
    if (late_ < kMany) late_ = 0;
    order_ = order_of_need(step_.buckets(), late_);
    split_seconds(computed, base::seconds_since(start_ns), work, report.seconds);
    before_ = report.seconds;
    return report;
  }

  // Afterwards every worker has all weights and the complete optimizer state.
  void end_interval() override {
    finish();
    if (shares_weights()) worker_.group.barrier();  // until worker 0 has moved the shared statistics
    OptimizerState& state = worker_.updater.state();
    for (std::size_t b = 0; b < trained_; ++b)
      for (int s = 0; s < state.slots(); ++s) worker_.group.share_slices(state.slot(s, step_.buckets()[b].floats));
  }

 private:
  bool shares_weights() const { return !worker_.host_weights.empty(); }

  // Puts the weights, which are equal on all workers, into the host's shared copy. The first barrier is for workers
  // that still copy their weights out of it after the previous interval.
  void gather_weights() {
    worker_.group.barrier();
    if (worker_.worker == 0) std::copy_n(own_weights_, worker_.host_weights.size(), worker_.host_weights.begin());
    worker_.group.barrier();
    worker_.replica.share_weights(worker_.host_weights.data());
  }

  // Called in the same order on all workers (see BucketCount). The last bucket runs on the thread that waits for it, if
  // few others were in flight in the last step (late_ is 0).
  void start(std::size_t bucket, const comm::ExactPlan& plan, std::size_t partials, const optim::StepScalars& scalars) {
    const bool is_last = late_ == 0 && bucket + 1 >= trained_;
    const std::lock_guard lock(mutex_);
    pending_[bucket] = worker_.group.start(
        [this, bucket, &plan, partials, scalars](comm::Collectives& group) {
          const std::int64_t start_ns = base::now_ns();
          add_up(group, bucket, plan, partials, scalars);
          busy_ns_.fetch_add(base::now_ns() - start_ns, std::memory_order_relaxed);
        },
        is_last ? comm::RunBy::waiter : comm::RunBy::thread);
  }

  void add_up(comm::Collectives& group, std::size_t bucket, const comm::ExactPlan& plan, std::size_t partials,
              const optim::StepScalars& scalars) {
    const base::Range floats = step_.buckets()[bucket].floats, chunks = step_.buckets()[bucket].chunks;
    if (bucket >= trained_) return step_.add_up(group, bucket, plan, partials, step_.partial(0, floats), nullptr);
    const std::span<float> weights(worker_.replica.weights() + floats.begin, at(floats.size()));
    const auto update = [&](std::int64_t first, std::span<const float> sum) {
      const std::int64_t start_ns = base::now_ns();
      const std::int64_t begin = floats.begin + first;
      worker_.updater.update(chunks, {begin, begin + static_cast<std::int64_t>(sum.size())}, sum.data(), scalars);
      update_ns_.fetch_add(base::now_ns() - start_ns, std::memory_order_relaxed);
    };
    if (shares_weights())
      step_.use_sum(group, bucket, plan, partials, update);
    else
      step_.add_up(group, bucket, plan, partials, weights, update);
  }

  void wait_for(std::size_t bucket) {
    if (!pending_[bucket]) return;
    comm::PendingCollective pending = *std::exchange(pending_[bucket], std::nullopt);
    pending.wait();
  }

  // The trained buckets that are still in flight.
  std::size_t under_way() {
    const std::lock_guard lock(mutex_);
    return at(std::count_if(pending_.begin(), pending_.begin() + static_cast<std::ptrdiff_t>(trained_),
                            [](const auto& one) { return one && !one->is_done(); }));
  }

  // Returns when the last step's weights of these parameters have arrived. Any thread of the crew.
  void need(std::span<const int> parameters) {
    const std::lock_guard lock(mutex_);
    for (const int p : parameters) ensure_current(p);
  }

  void ensure_current(int parameter) {
    if (!is_stale_[at(parameter)]) return;
    for (const std::size_t bucket : buckets_of_[at(parameter)]) wait_for(bucket);
    const std::int64_t start_ns = base::now_ns();
    worker_.replica.refresh_weight_forms(parameter);
    forms_ns_.fetch_add(base::now_ns() - start_ns, std::memory_order_relaxed);
    is_stale_[at(parameter)] = false;
  }

  // Waits for all weights of the last step and moves the statistics.
  void finish() {
    const std::lock_guard lock(mutex_);
    for (int p = 0; p < worker_.replica.space().size(); ++p) ensure_current(p);
    if (samples_ == 0) return;
    if (trained_ < pending_.size()) wait_for(trained_);
    if (!shares_weights() || worker_.worker == 0)
      worker_.replica.move_statistics(step_.partial(0).data() + worker_.replica.space().trained_floats(), samples_);
    samples_ = 0;
  }

  // Splits the time spent waiting into network and update: part of it went into updating this worker's own slices.
  void split_seconds(const crew::ComputeReport& computed, double notes, const Work& work, StepSeconds& result) const {
    const double busy = seconds(busy_ns_.load()), owned = seconds(update_ns_.load()), made = seconds(forms_ns_.load());
    const double waited = std::max(0.0, computed.waited_seconds - made) + notes;
    const double updates = std::min(owned, busy > 0 ? waited * owned / busy : 0);
    result = seconds_of(work, computed);
    result.update += std::min(made, computed.waited_seconds) + updates;
    result.network = waited - updates;
    result.hidden = std::max(0.0, busy - owned - (waited - updates));
  }

  WorkerContext worker_;
  float* own_weights_ = worker_.replica.weights();  // where the weights are outside of this strategy
  SyncStep step_;
  std::size_t trained_;                               // buckets; one more: the statistics
  std::vector<std::vector<std::size_t>> buckets_of_;  // per parameter
  std::vector<std::size_t> unread_;                   // buckets whose weights no layer reads
  std::vector<std::size_t> order_ = order_of_need(step_.buckets(), 0);
  std::size_t late_ = 0;  // buckets in flight when the slowest worker had its gradients; 0 if fewer than kMany
  std::mutex mutex_;
  std::vector<bool> is_stale_;  // per parameter: its weights of the last step are not ready yet; guarded
  std::vector<std::optional<comm::PendingCollective>> pending_;  // per bucket; guarded
  std::int64_t samples_ = 0;  // of the last step, if its statistics are not moved yet
  // Time in collectives, the part of it spent updating own slices, and time refreshing weight forms.
  std::atomic<std::int64_t> busy_ns_{0}, update_ns_{0}, forms_ns_{0};
  std::vector<double> all_notes_;
  StepSeconds before_;
};

}  // namespace

std::unique_ptr<Strategy> make_owned_all_reduce(const WorkerContext& worker, const AllReduceOptions& options) {
  return std::make_unique<OwnedAllReduce>(worker, options);
}

}  // namespace trireme::strategy
