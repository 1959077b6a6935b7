// allreduce: every worker holds all weights. Buckets of gradients are added over all workers while backward goes on.
// Who adds a slice of a bucket also moves its weights by it, and hands these out instead of the sum: nobody reads them
// any more in this step once all gradients of the bucket are there. So a worker keeps the optimizer's state of its
// slices only, until the stretch ends. Where more is needed than the slice (clipping, a penalty, sums in any order) all
// get the sum, and every worker makes the same update.
#include "comm/all_reduce.h"

#include <atomic>

#include "base/clock.h"
#include "strategy/strategy.h"
#include "strategy/sync_step.h"

namespace trireme::strategy {
namespace {

class AllReduce : public Strategy {
 public:
  AllReduce(const Worker& worker, const AllReduceOptions& options)
      : worker_(worker),
        algorithm_(options.algorithm),
        // Arrays outside of the group's memory travel; so an algorithm that is asked for is really used.
        own_(worker.exact && algorithm_ != comm::Algorithm::automatic ? worker.gradients.size() : 0),
        step_(worker, cut_into_buckets(worker.crew, options.bucket_bytes > 0 ? options.bucket_bytes : kBucketBytes),
              own_.empty() ? worker.gradients : std::span<float>(own_)),
        owners_update_(worker.exact && worker.updater.takes_any_part()),
        all_notes_(step_.note_size() * static_cast<std::size_t>(worker.cast.workers)) {
    worker_.updater.state();
  }

  // What runs in the background uses this object.
  ~AllReduce() override { wait_for_all(); }

  StepReport step(const Work& work) override {
    StepReport report;
    const comm::ExactPlan& plan = step_.plan(work.step, work.batch.samples);
    wait_for_all();
    busy_ns_.store(0, std::memory_order_relaxed);
    owned_ns_.store(0, std::memory_order_relaxed);
    waited_seconds_ = updated_seconds_ = 0;
    scalars_ = worker_.updater.scalars(work.step, work.lr);
    const crew::RowReport row = step_.row(work, {work.oars}, [&](std::size_t bucket) { start(bucket, plan); });
    note_ = step_.write_note(work, row, before_);
    pending_.push_back(worker_.group.start(
        [this](comm::Collectives& group) {
          group.all_gather(std::as_bytes(std::span(note_)), std::as_writable_bytes(std::span(all_notes_)));
        },
        comm::RunBy::waiter));
    update(work);
    wait(pending_.back());
    step_.read_notes(all_notes_, work, report);
    report.penalty = worker_.updater.penalty();
    // What was waited for is shared out: some of it were updates of the slices that are this worker's own.
    const double busy = 1e-9 * static_cast<double>(busy_ns_.load()),
                 owned = 1e-9 * static_cast<double>(owned_ns_.load());
    const double waited_for_updates = busy > 0 ? std::min(owned, waited_seconds_ * owned / busy) : 0;
    const double network = waited_seconds_ - waited_for_updates;
    report.seconds = {.load = work.load_seconds,
                      .forward = row.forward_seconds,
                      .backward = row.backward_seconds + work.slept_seconds,
                      .update = row.update_seconds + updated_seconds_ + waited_for_updates,
                      .network = network,
                      .hidden = std::max(0.0, busy - owned - network)};
    before_ = report.seconds;
    return report;
  }

  // Every worker has all of the state again.
  void end_stretch() override {
    if (!owners_update_) return;
    OptimizerState& state = worker_.updater.state();
    for (const Bucket& bucket : step_.buckets())
      for (int s = 0; s < state.slots() && !bucket.chunks.empty(); ++s)
        worker_.group.share_slices(state.slot(s, bucket.floats));
  }

 private:
  void wait_for_all() noexcept {
    for (comm::Pending& each : pending_) try {
        each.wait();
      } catch (...) {  // its failure was told already
      }
    pending_.clear();
  }

  // In the same order on all workers; see BucketCount. When the last is complete, and the statistics with it, nothing is
  // left but to wait for them.
  void start(std::size_t bucket, const comm::ExactPlan& plan) {
    const std::size_t trained = step_.buckets().size() - (step_.buckets().back().chunks.empty() ? 1 : 0);
    const bool is_last = bucket + 1 >= trained;
    pending_.push_back(
        worker_.group.start([this, bucket, &plan](comm::Collectives& group) { add_up(group, bucket, plan); },
                            is_last ? comm::RunBy::waiter : comm::RunBy::thread));
  }

  void add_up(comm::Collectives& group, std::size_t bucket, const comm::ExactPlan& plan) {
    const std::int64_t start_ns = base::now_ns();
    const auto [floats, chunks] = step_.buckets()[bucket];
    if (owners_update_ && !chunks.empty()) {
      const std::span<float> weights(worker_.crew.weights() + floats.begin, static_cast<std::size_t>(floats.size()));
      step_.add_up(group, bucket, plan, weights, [&](std::int64_t first, std::span<const float> sum) {
        const base::Range part{floats.begin + first, floats.begin + first + static_cast<std::int64_t>(sum.size())};
        const std::int64_t use_ns = base::now_ns();
        worker_.updater.update(chunks, part, sum.data(), scalars_);
        owned_ns_.fetch_add(base::now_ns() - use_ns, std::memory_order_relaxed);
      });
    } else {
      step_.add_up(group, bucket, plan, algorithm_);
    }
    busy_ns_.fetch_add(base::now_ns() - start_ns, std::memory_order_relaxed);
  }

  void wait(comm::Pending& pending) {
    const std::int64_t start_ns = base::now_ns();
    pending.wait();
    waited_seconds_ += base::seconds_since(start_ns);
  }

  // Bucket by bucket as they come.
  void update(const Work& work) {
    const std::int64_t begin_ns = base::now_ns();
    crew::Crew& crew = worker_.crew;
    const float* gradient = step_.partial(0).data();
    const auto apply = [&](const crew::Chunk& chunk, const float* part) {
      worker_.updater.update(chunk, part, scalars_);
    };
    const bool clips = worker_.updater.clips();
    for (std::size_t b = 0; b < step_.buckets().size(); ++b) {
      wait(pending_[b]);
      if (!owners_update_ && !clips) crew.for_each_chunk(gradient, step_.buckets()[b].chunks, apply);
    }
    if (clips) {
      worker_.updater.clip(gradient, scalars_);
      crew.for_each_chunk(gradient, {0, static_cast<std::int64_t>(crew.chunks().size())}, apply);
    }
    crew.move_statistics(gradient + crew.space().trained_floats(), work.batch.samples);
    crew.refresh_weight_forms();
    updated_seconds_ = base::seconds_since(begin_ns) - waited_seconds_;
  }

  Worker worker_;
  comm::Algorithm algorithm_;
  std::vector<float> own_;
  SyncStep step_;
  bool owners_update_;
  optim::StepScalars scalars_;                          // of the step
  std::vector<comm::Pending> pending_;                  // per bucket, then the notes
  std::atomic<std::int64_t> busy_ns_{0}, owned_ns_{0};  // with buckets, of that with updates
  std::vector<double> note_, all_notes_;
  double waited_seconds_ = 0, updated_seconds_ = 0;  // of the step
  StepSeconds before_;
};

}  // namespace

std::unique_ptr<Strategy> make_all_reduce(const Worker& worker, const AllReduceOptions& options) {
  return std::make_unique<AllReduce>(worker, options);
}

}  // namespace trireme::strategy
