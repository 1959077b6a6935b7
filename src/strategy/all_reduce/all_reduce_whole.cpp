// The whole form of allreduce: buckets are all-reduced while backward runs, then every worker makes the same update.
#include "strategy/all_reduce/all_reduce.h"

#include <atomic>

#include "base/system/clock.h"
#include "strategy/common/sync_step.h"

namespace trireme::strategy {
namespace {

class WholeAllReduce : public Strategy {
 public:
  WholeAllReduce(const WorkerContext& worker, const AllReduceOptions& options)
      : worker_(worker),
        algorithm_(options.algorithm),
        // Arrays in the group's shared memory would be added in place. Memory of its own makes them travel, so that the
        // algorithm the user chose is really used.
        own_(worker.exact && algorithm_ != comm::Algorithm::automatic ? worker.gradients.size() : 0),
        step_(worker, buckets_of(worker, options.bucket_bytes),
              own_.empty() ? worker.gradients : std::span<float>(own_)),
        all_notes_(step_.note_size() * static_cast<std::size_t>(worker.roles.workers)) {
    worker_.updater.ensure_state();
  }

  // Background collectives use this object, so they must end first.
  ~WholeAllReduce() override { wait_for_all(); }

  StepReport step(const Work& work) override {
    StepReport report;
    const comm::ExactPlan& plan = step_.plan(work.step, work.batch.samples);
    wait_for_all();
    busy_ns_.store(0, std::memory_order_relaxed);
    const crew::ComputeReport computed =
        step_.compute(work, {work.oars}, [&](std::size_t bucket) { start(bucket, plan); });
    note_ = step_.write_note(work, computed, before_);
    pending_.push_back(worker_.group.start(
        [this](comm::Collectives& group) {
          group.all_gather(std::as_bytes(std::span(note_)), std::as_writable_bytes(std::span(all_notes_)));
        },
        comm::RunBy::waiter));
    const double update_seconds = update(work);
    const std::int64_t start_ns = base::now_ns();
    pending_.back().wait();
    waited_seconds_ += base::seconds_since(start_ns);
    step_.read_notes(all_notes_, work, report);
    report.penalty = worker_.updater.penalty();
    report.seconds = seconds_of(work, computed);
    report.seconds.update += update_seconds;
    report.seconds.network = waited_seconds_;
    report.seconds.hidden = std::max(0.0, 1e-9 * static_cast<double>(busy_ns_.load()) - waited_seconds_);
    before_ = report.seconds;
    return report;
  }

 private:
  void wait_for_all() noexcept {
    for (comm::PendingCollective& each : pending_) try {
        each.wait();
      } catch (...) {  // the failure was reported already
      }
    pending_.clear();
  }

  // Called in the same order on all workers (see BucketCount). The last trained bucket and the statistics run on the
  // thread that waits for them, since it has nothing else left to do.
  void start(std::size_t bucket, const comm::ExactPlan& plan) {
    const bool is_last = bucket + 1 >= trained_buckets(step_.buckets());
    pending_.push_back(
        worker_.group.start([this, bucket, &plan](comm::Collectives& group) { add_up(group, bucket, plan); },
                            is_last ? comm::RunBy::waiter : comm::RunBy::thread));
  }

  void add_up(comm::Collectives& group, std::size_t bucket, const comm::ExactPlan& plan) {
    const std::int64_t start_ns = base::now_ns();
    step_.add_up(group, bucket, plan, algorithm_);
    busy_ns_.fetch_add(base::now_ns() - start_ns, std::memory_order_relaxed);
  }

  // Updates bucket by bucket as the sums arrive. Returns the seconds without waiting; sets waited_seconds_.
  double update(const Work& work) {
    const std::int64_t begin_ns = base::now_ns();
    waited_seconds_ = 0;
    crew::Replica& replica = worker_.replica;
    const float* gradient = step_.partial(0).data();
    optim::StepScalars scalars = worker_.updater.scalars(work.step, work.lr);
    const auto apply = [&](const crew::Chunk& chunk, const float* part) {
      worker_.updater.update(chunk, part, scalars);
    };
    const bool clips = worker_.updater.clips();
    for (std::size_t b = 0; b < step_.buckets().size(); ++b) {
      const std::int64_t start_ns = base::now_ns();
      pending_[b].wait();
      waited_seconds_ += base::seconds_since(start_ns);
      if (!clips) replica.for_each_chunk(gradient, step_.buckets()[b].chunks, apply);
    }
    if (clips) {
      worker_.updater.clip(gradient, scalars);
      replica.for_each_chunk(gradient, {0, static_cast<std::int64_t>(replica.chunks().size())}, apply);
    }
    replica.move_statistics(gradient + replica.space().trained_floats(), work.batch.samples);
    replica.refresh_weight_forms();
    return base::seconds_since(begin_ns) - waited_seconds_;
  }

  WorkerContext worker_;
  comm::Algorithm algorithm_;
  std::vector<float> own_;
  SyncStep step_;
  std::vector<comm::PendingCollective> pending_;  // per bucket, then the notes
  std::atomic<std::int64_t> busy_ns_{0};
  std::vector<double> note_, all_notes_;
  double waited_seconds_ = 0;
  StepSeconds before_;
};

}  // namespace

std::unique_ptr<Strategy> make_whole_all_reduce(const WorkerContext& worker, const AllReduceOptions& options) {
  return std::make_unique<WholeAllReduce>(worker, options);
}

}  // namespace trireme::strategy
