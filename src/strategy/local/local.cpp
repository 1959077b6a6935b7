#include "strategy/local/local.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <optional>

#include "base/error.h"
#include "base/index.h"
#include "base/system/clock.h"
#include "optim/clip.h"
#include "strategy/common/sync_step.h"
#include "strategy/server/server_connections.h"

namespace trireme::strategy {
namespace {

using base::at;

constexpr PsOptions kServersAdd{.synchronous = true, .returns_gradients = true};

comm::ExactPlan one_oar_each(int workers) {
  comm::OarShares shares{workers, {}, {}};
  for (int w = 0; w < workers; ++w) shares.held.push_back({w, w + 1});
  return comm::ExactPlan(shares);
}

// The sum of squares of a - b, or of a if b is null; in a fixed order of additions.
double sum_of_squares(const float* a, const float* b, std::int64_t count) {
  std::array<double, 8> sums{};
  const auto add = [&](std::int64_t i, std::size_t sum) {
    const double one = static_cast<double>(a[i]) - (b != nullptr ? static_cast<double>(b[i]) : 0.0);
    sums[sum] += one * one;
  };
  const auto width = static_cast<std::int64_t>(sums.size());
  std::int64_t begin = 0;
  for (; begin + width <= count; begin += width)
    for (std::size_t k = 0; k < sums.size(); ++k) add(begin + static_cast<std::int64_t>(k), k);
  for (std::int64_t i = begin; i < count; ++i) add(i, at(i - begin));
  return optim::tree_sum(sums);
}

class Local : public Strategy {
 public:
  Local(const WorkerContext& worker, const LocalOptions& options)
      : worker_(worker),
        options_(options),
        own_(worker.gradients.empty() ? at(worker.replica.space().floats()) : 0),
        step_(worker, options.by_servers ? buckets_for_servers(worker, 0) : buckets_of(worker, 0),
              own_.empty() ? worker.gradients : std::span<float>(own_)),
        plan_(one_oar_each(worker.roles.workers)),
        note_size_(step_.note_size() + 1),
        sums_(worker.replica.chunks().size()) {
    if (options.by_servers) connections_.emplace(worker, step_, kServersAdd, worker.roles.workers, true);
    worker_.updater.ensure_state();
  }

  StepReport step(const Work& work) override {
    if (connections_ && !connections_->has_begun()) connections_->begin();
    if (options_.drift > 0 && since_ == 0) remember_average();
    StepReport report;
    const crew::ComputeReport computed = compute_and_update(work, report);
    ++since_;
    is_state_equal_ = false;
    const std::int64_t computed_ns = base::now_ns();
    const bool is_far = exchange_notes(work, computed, report);
    if (is_far || since_ == options_.every) average(false);
    report.seconds = seconds_of(work, computed);
    report.seconds.update += update_seconds_;
    report.seconds.network = base::seconds_since(computed_ns);
    before_ = report.seconds;
    return report;
  }

  void end_interval() override {
    if (connections_ && !connections_->has_begun()) connections_->begin();
    if (since_ > 0)
      average(true);
    else if (!is_state_equal_)
      average_state();
    if (connections_) connections_->end();
  }

  std::int64_t take_synchronisations() override { return std::exchange(synchronisations_, 0); }

 private:
  crew::Replica& replica() { return worker_.replica; }
  base::Range all_chunks() { return {0, static_cast<std::int64_t>(replica().chunks().size())}; }
  base::Range statistics() { return {replica().space().trained_floats(), replica().space().floats()}; }

  // Updates with the mean gradient of this worker's share: chunk by chunk during backward, or after it with clipping.
  crew::ComputeReport compute_and_update(const Work& work, StepReport& report) {
    std::int64_t samples = 0;
    for (std::int64_t oar = work.oars.begin; oar < work.oars.end; ++oar)
      samples += base::oar_samples(static_cast<int>(oar), replica().oars(), work.batch.samples).size();
    // An optimizer that was reset counts its steps from the last average.
    const std::int64_t count = options_.state == StateAtAverage::reset ? since_ + 1 : work.step;
    optim::StepScalars scalars = worker_.updater.scalars(count, work.lr);
    const bool clips = worker_.updater.clips();
    const std::span<float> kept = step_.partial(0);
    const crew::ComputeReport computed =
        replica().compute(work.batch, work.random, {work.oars, true}, [&](const crew::Chunk& chunk, const auto& sums) {
          if (sums.empty()) return;
          if (clips)
            std::memcpy(kept.data() + chunk.offset, sums[0], at(chunk.count) * sizeof(float));
          else
            worker_.updater.update(chunk, sums[0], scalars);
        });
    const std::int64_t start_ns = base::now_ns();
    if (samples > 0) {
      if (clips) {
        worker_.updater.clip(kept.data(), scalars);
        replica().for_each_chunk(kept.data(), all_chunks(), [&](const crew::Chunk& chunk, const float* part) {
          worker_.updater.update(chunk, part, scalars);
        });
      }
      if (!statistics().empty()) replica().move_statistics(replica().statistics_sums()[0], samples);
      replica().refresh_weight_forms();
    }
    report.penalty = samples > 0 ? worker_.updater.penalty() : worker_.updater.penalty_now();
    update_seconds_ = base::seconds_since(start_ns);
    return computed;
  }

  // True when a replica has drifted too far; the same on all workers.
  bool exchange_notes(const Work& work, const crew::ComputeReport& computed, StepReport& report) {
    std::vector<double> note = step_.write_note(work, computed, before_);
    note.push_back(options_.drift > 0 ? drift() : 0);
    std::vector<double> all(note_size_ * at(worker_.roles.workers));
    worker_.group.all_gather(std::as_bytes(std::span(note)), std::as_writable_bytes(std::span(all)));
    std::vector<double> notes;
    bool is_far = false;
    for (std::size_t from = 0; from < all.size(); from += note_size_) {
      const auto of_worker = std::span(all).subspan(from, note_size_);
      notes.insert(notes.end(), of_worker.begin(), of_worker.end() - 1);
      is_far |= options_.drift > 0 && !(of_worker.back() <= options_.drift);
    }
    step_.read_notes(notes, work, report);
    return is_far;
  }

  void remember_average() {
    average_.assign(replica().weights(), replica().weights() + replica().space().trained_floats());
    average_length_ = length(nullptr);
  }
  double drift() { return length(average_.data()) / average_length_; }
  // The L2 norm of the weights, or of their difference to `others`.
  double length(const float* others) {
    replica().for_each_chunk(replica().weights(), all_chunks(), [&](const crew::Chunk& chunk, const float* part) {
      sums_[at(chunk.index)] = sum_of_squares(part, others != nullptr ? others + chunk.offset : nullptr, chunk.count);
    });
    return std::sqrt(optim::tree_sum(sums_));
  }

  void average(bool at_meeting) {
    to_mean(replica().weights(), true);
    replica().refresh_weight_forms();
    since_ = 0;
    ++synchronisations_;
    if (options_.state == StateAtAverage::reset) {
      worker_.updater.state().clear();
      is_state_equal_ = true;
    } else if (options_.state == StateAtAverage::average || at_meeting) {
      average_state();
    }
  }

  void average_state() {
    OptimizerState& state = worker_.updater.state();
    for (int s = 0; s < state.slots(); ++s) to_mean(state.slot(s).data(), false);
    is_state_equal_ = true;
  }

  // Replaces `floats` (of the parameter space) by their mean over all workers, with statistics or without.
  void to_mean(float* floats, bool with_statistics) {
    const float factor = 1.0f / static_cast<float>(worker_.roles.workers);
    const std::span<float> sum = step_.partial(0);
    const base::Range rest = with_statistics ? statistics() : base::Range{};
    replica().for_each_chunk(floats, all_chunks(), [&](const crew::Chunk& chunk, const float* part) {
      std::memcpy(sum.data() + chunk.offset, part, at(chunk.count) * sizeof(float));
    });
    std::copy(floats + rest.begin, floats + rest.end, sum.begin() + rest.begin);
    add_over_workers(with_statistics);
    replica().for_each_chunk(sum.data(), all_chunks(), [&](const crew::Chunk& chunk, const float* part) {
      if (replica().is_frozen(chunk.parameter)) return;  // equal on all workers; their mean could round
      for (std::int64_t i = 0; i < chunk.count; ++i) floats[chunk.offset + i] = factor * part[i];
    });
    for (std::int64_t i = rest.begin; i < rest.end; ++i) floats[i] = factor * sum[at(i)];
  }

  void add_over_workers(bool with_statistics) {
    const std::vector<Bucket>& buckets = step_.buckets();
    if (connections_) {
      std::vector<std::int64_t> ends;
      for (int w = 0; w < worker_.roles.workers; ++w) ends.push_back(w + 1);
      connections_->set({.partials = 1, .samples = worker_.roles.workers}, ends);
    }
    for (std::size_t b = 0; b < buckets.size(); ++b) {
      if (buckets[b].is_statistics() && !with_statistics) continue;
      const std::span<float> part = step_.partial(0, buckets[b].floats);
      if (connections_)
        connections_->push(b);
      else if (worker_.roles.workers > 1)
        worker_.group.exact_all_reduce(plan_, std::array{part}, part);
    }
    if (connections_) connections_->wait_all();
  }

  WorkerContext worker_;
  LocalOptions options_;
  std::vector<float> own_;  // a gradient's memory, if the worker context has none
  SyncStep step_;
  comm::ExactPlan plan_;
  std::size_t note_size_;
  std::int64_t since_ = 0;      // steps since the last average
  bool is_state_equal_ = true;  // all workers have the same optimizer state
  std::int64_t synchronisations_ = 0;
  std::vector<float> average_;  // the weights at the last average, if drift is measured
  double average_length_ = 0;
  std::vector<double> sums_;  // per chunk
  double update_seconds_ = 0;
  StepSeconds before_;
  std::optional<ServerConnections> connections_;  // last: its threads use the other members
};

class LocalConfig : public StrategyConfig {
 public:
  explicit LocalConfig(const LocalOptions& options)
      : StrategyConfig({.needs_servers = options.by_servers, .holds_shares = true}), options_(options) {}

  std::unique_ptr<Strategy> make_worker_side(const WorkerContext& worker) const override {
    return make_local(worker, options_);
  }
  std::unique_ptr<ServerSide> make_server_side(Server& server) const override {
    return server.serve({kServersAdd.synchronous, kServersAdd.returns_gradients});
  }

 private:
  LocalOptions options_;
};

StrategyConfigPtr configure_local(base::Spec& spec, const WorkerSet&) {
  LocalOptions options;
  options.every = spec.integer("every", options.every);
  options.drift = spec.number("drift", options.drift);
  if (options.every < 0)
    base::user_error("--strategy: every is {}, expected steps, or 0 for none with drift alone", options.every);
  if (!(options.drift >= 0)) base::user_error("--strategy: drift is {}, expected 0 (none) or more", options.drift);
  if (options.every == 0 && options.drift == 0)
    base::user_error(
        "--strategy: local with every=0 never averages; give drift as well, as in local:every=0,drift=0.05");
  const std::string by = spec.word("by", "workers"), state = spec.word("state", "average");
  if (by != "workers" && by != "servers") base::user_error("--strategy: by is '{}', expected workers or servers", by);
  options.by_servers = by == "servers";
  if (state != "average" && state != "keep" && state != "reset")
    base::user_error("--strategy: state is '{}', expected average, keep or reset", state);
  options.state = state == "average" ? StateAtAverage::average
                  : state == "keep"  ? StateAtAverage::keep
                                     : StateAtAverage::reset;
  return std::make_shared<LocalConfig>(options);
}

}  // namespace

StrategyRow local_row() {
  return {
      "local",
      "every worker updates its own weights (local SGD), which are averaged every few steps or when they drift apart",
      {{"every", "8", "steps between two averages; 0: by drift alone"},
       {"drift", "0", "average when a replica is further from the last average, relative to its length; 0: never"},
       {"by", "workers|servers", "who adds the replicas"},
       {"state", "average|keep|reset", "the optimizers' states when replicas are averaged"}},
      configure_local};
}

std::unique_ptr<Strategy> make_local(const WorkerContext& worker, const LocalOptions& options) {
  return std::make_unique<Local>(worker, options);
}

}  // namespace trireme::strategy
