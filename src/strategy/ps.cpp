#include "strategy/ps.h"

#include <algorithm>
#include <cstring>
#include <optional>

#include "base/clock.h"
#include "base/error.h"
#include "strategy/couriers.h"
#include "strategy/hand_over.h"
#include "strategy/sync_step.h"

namespace trireme::strategy {
namespace {

std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

class Ps : public Strategy {
 public:
  Ps(const Worker& worker, const PsOptions& options)
      : worker_(worker),
        options_(options),
        // Replies are awaited in turn with pushes, which an acknowledgement is enough for while the norm is not known.
        replies_late_(options.synchronous && !options.returns_gradients && worker.updater.clips()),
        borders_(shard_borders(worker.crew, worker.cast.servers)),
        step_(worker,
              cut_into_buckets(worker.crew, options.bucket_bytes > 0 ? options.bucket_bytes : kBucketBytes, borders_),
              worker.gradients),
        of_server_(at(worker.cast.servers)),
        all_notes_(step_.note_size() * at(worker.cast.workers)),
        couriers_(worker.cast.servers, step_.buckets().size() + 1,
                  [this](const Errand& errand, const std::atomic<bool>& stop) { run(errand, stop); }) {
    base::check(worker.cast.servers > 0, "there are no servers");
    base::check(options.synchronous || !options.returns_gradients, "only synchronous servers return gradients");
    for (std::size_t b = 0; b < step_.buckets().size(); ++b) {
      const std::int64_t offset = step_.buckets()[b].floats.begin;
      const auto server = static_cast<int>(
          std::count_if(borders_.begin() + 1, borders_.end() - 1, [&](std::int64_t one) { return one <= offset; }));
      home_.push_back({server, static_cast<int>(of_server_[at(server)].size())});
      of_server_[at(server)].push_back(b);
    }
  }

  // What runs in the background uses this object.
  ~Ps() override { wait_for_notes(); }

  StepReport step(const Work& work) override {
    if (!has_begun_) begin();
    if (options_.returns_gradients)
      worker_.updater.state();
    else
      worker_.updater.give_up_state();
    return options_.synchronous ? step_together(work) : step_alone(work);
  }

  void end_stretch() override {
    if (!has_begun_) begin();
    if (!options_.synchronous) {  // what is pulled then is the same for all
      worker_.group.barrier();
      for (std::size_t b = 0; b < step_.buckets().size(); ++b) give(Request::pull, b);
      couriers_.wait_all();
      worker_.crew.refresh_weight_forms();
    }
    for (int server = 0; server < worker_.cast.servers; ++server)
      for (int lane = 0; lane < kLanes; ++lane) couriers_.give({Request::end, server, lane, 0, step_.buckets().size()});
    couriers_.wait_all();
    has_begun_ = false;
  }

 private:
  struct Home {
    int server = 0, number = 0;  // and which of the server's buckets
  };

  int process_of(int server) const { return worker_.cast.process_of_server(server); }

  void begin() {
    for (int server = 0; server < worker_.cast.servers; ++server) {
      std::vector<WireBucket> buckets;
      for (const std::size_t b : of_server_[at(server)])
        buckets.push_back({step_.buckets()[b].floats, step_.buckets()[b].chunks});
      BeginHead head;
      head.buckets = static_cast<std::int64_t>(buckets.size());
      head.oars = worker_.crew.oars();
      head.synchronous = options_.synchronous;
      head.returns_gradients = options_.returns_gradients;
      head.is_exact = worker_.exact;
      head.clips = worker_.updater.clips();
      send_one(worker_.group.post(), process_of(server), kBeginTag, head);
      send_array<WireBucket>(worker_.group.post(), process_of(server), kBeginTag, buckets);
    }
    has_begun_ = true;
  }

  void give(Request request, std::size_t bucket) {
    const Home& home = home_[bucket];
    couriers_.give({request, home.server, home.number % kLanes, home.number, bucket});
  }

  // In a courier's thread.
  void run(const Errand& errand, const std::atomic<bool>& stop) {
    comm::Post& post = worker_.group.post();
    const int to = process_of(errand.server);
    const auto lane = static_cast<comm::Tag>(errand.lane);
    RequestHead head = head_;
    head.request = errand.request;
    head.bucket = errand.bucket;
    const bool pushes = errand.request == Request::push;
    const std::size_t ends = pushes ? ends_.size() * sizeof(std::int64_t) : 0;
    if (pushes) head.partials = static_cast<std::int32_t>(step_.partials());
    std::vector<std::byte> message(sizeof head + ends);
    std::memcpy(message.data(), &head, sizeof head);
    if (ends > 0) std::memcpy(message.data() + sizeof head, ends_.data(), ends);
    post.send(to, kPushTag + lane, message);
    if (errand.request == Request::end) return;
    const auto receive = [&](std::size_t bucket) {
      const base::Range floats = step_.buckets()[bucket].floats;
      const std::span<float> into = options_.returns_gradients
                                        ? step_.partial(0, floats)
                                        : std::span<float>(worker_.crew.weights() + floats.begin, at(floats.size()));
      receive_bytes(post, to, kReplyTag + lane, std::as_writable_bytes(into), stop);
    };
    if (pushes)
      for (std::size_t p = 0; p < step_.partials(); ++p)
        send_array<float>(post, to, kPushTag + lane, step_.partial(p, step_.buckets()[errand.mark].floats));
    if (!pushes || !replies_late_) return receive(errand.mark);
    receive_bytes(post, to, kReplyTag + lane, {}, stop);
    const std::vector<std::size_t>& all = of_server_[at(errand.server)];
    if (at(errand.bucket) + kLanes < all.size()) return;
    for (std::size_t n = at(errand.lane); n < all.size(); n += kLanes) receive(all[n]);
  }

  StepReport step_together(const Work& work) {
    StepReport report;
    if (!options_.returns_gradients) report.penalty = worker_.updater.penalty_now();
    head_ = {.samples = work.batch.samples, .step = work.step, .lr = work.lr};
    ends_.clear();
    for (const base::Range& share : worker_.assignment.shares(work.step)) ends_.push_back(share.end);
    wait_for_notes();
    const crew::RowReport row = step_.row(work, [&](std::size_t bucket) { give(Request::push, bucket); });
    note_ = step_.write_note(work, row, before_);
    notes_ = worker_.group.start([this](comm::Collectives& group) {
      group.all_gather(std::as_bytes(std::span(note_)), std::as_writable_bytes(std::span(all_notes_)));
    });
    double waited = 0;
    const auto wait = [&](const auto& f) {
      const std::int64_t start_ns = base::now_ns();
      f();
      waited += base::seconds_since(start_ns);
    };
    const std::int64_t begin_ns = base::now_ns();
    if (options_.returns_gradients) {
      update(work, wait);
      report.penalty = worker_.updater.penalty();
    } else {
      wait([&] { couriers_.wait_all(); });
    }
    worker_.crew.refresh_weight_forms();
    wait([&] { std::exchange(notes_, std::nullopt)->wait(); });
    const double update_seconds = base::seconds_since(begin_ns) - waited;
    step_.read_notes(all_notes_, work, report);
    set_seconds(report, work, row, update_seconds, waited);
    return report;
  }

  // With the gradients that come back, bucket by bucket.
  template <class Wait>
  void update(const Work& work, const Wait& wait) {
    crew::Crew& crew = worker_.crew;
    const float* gradient = step_.partial(0).data();
    optim::StepScalars scalars = worker_.updater.scalars(work.step, work.lr);
    const auto apply = [&](const crew::Chunk& chunk, const float* part) {
      worker_.updater.update(chunk, part, scalars);
    };
    const bool clips = worker_.updater.clips();
    for (std::size_t b = 0; b < step_.buckets().size(); ++b) {
      wait([&] { couriers_.wait(b); });
      if (!clips) crew.for_each_chunk(gradient, step_.buckets()[b].chunks, apply);
    }
    if (clips) {
      worker_.updater.clip(gradient, scalars);
      crew.for_each_chunk(gradient, {0, static_cast<std::int64_t>(crew.chunks().size())}, apply);
    }
    crew.move_statistics(gradient + crew.space().trained_floats(), work.batch.samples);
  }

  StepReport step_alone(const Work& work) {
    StepReport report;
    const int oars = worker_.crew.oars();
    for (std::int64_t oar = work.oars.begin; oar < work.oars.end; ++oar)
      report.samples += base::oar_samples(static_cast<int>(oar), oars, work.batch.samples).size();
    if (report.samples == 0) {
      report.seconds = {.load = work.load_seconds, .backward = work.slept_seconds};
      return report;
    }
    report.penalty = worker_.updater.penalty_now();
    head_ = {.samples = report.samples, .step = work.step, .lr = work.lr};
    const bool clips = worker_.updater.clips();
    const auto push = [&](std::size_t bucket) { give(Request::push, bucket); };
    const crew::RowReport row = clips ? step_.row(
                                            work, [](std::size_t) {}, true)
                                      : step_.row(work, push, true);
    const std::int64_t begin_ns = base::now_ns();
    if (clips) {  // its own gradient; the factor goes with it
      optim::StepScalars scalars = worker_.updater.scalars(work.step, work.lr);
      worker_.updater.clip(step_.partial(0).data(), scalars);
      head_.clip = scalars.clip;
      for (std::size_t b = 0; b < step_.buckets().size(); ++b) push(b);
    }
    const std::int64_t start_ns = base::now_ns();
    couriers_.wait_all();
    const double waited = base::seconds_since(start_ns);
    worker_.crew.refresh_weight_forms();
    report.loss = row.loss;
    report.correct = row.correct;
    set_seconds(report, work, row, base::seconds_since(begin_ns) - waited, waited);
    return report;
  }

  void set_seconds(StepReport& report, const Work& work, const crew::RowReport& row, double update, double waited) {
    report.seconds = {.load = work.load_seconds,
                      .forward = row.forward_seconds,
                      .backward = row.backward_seconds + work.slept_seconds,
                      .update = row.update_seconds + update,
                      .network = waited,
                      .hidden = std::max(0.0, couriers_.take_busy_seconds() - waited)};
    before_ = report.seconds;
  }

  void wait_for_notes() noexcept {
    if (notes_) try {
        notes_->wait();
      } catch (...) {  // the step that failed has told of it
      }
    notes_.reset();
  }

  Worker worker_;
  PsOptions options_;
  bool replies_late_;
  std::vector<std::int64_t> borders_;
  SyncStep step_;
  std::vector<Home> home_;                           // per bucket
  std::vector<std::vector<std::size_t>> of_server_;  // buckets
  bool has_begun_ = false;
  RequestHead head_;                // of this step
  std::vector<std::int64_t> ends_;  // of its shares
  std::vector<double> note_, all_notes_;
  std::optional<comm::Pending> notes_;
  StepSeconds before_;
  Couriers couriers_;  // last: its threads use the rest
};

}  // namespace

std::unique_ptr<Strategy> make_ps(const Worker& worker, const PsOptions& options) {
  return std::make_unique<Ps>(worker, options);
}

void hand_to_servers(const Worker& worker) {
  if (worker.worker != 0) return;
  for (int server = 0; server < worker.cast.servers; ++server)
    send_shard(worker.group.post(), worker.cast.process_of_server(server),
               map_shard(worker.crew, worker.updater, worker.cast.servers, server), worker.crew.weights(),
               worker.updater.state());
}

void take_from_servers(const Worker& worker) {
  bool any = false;
  for (int server = 0; server < worker.cast.servers; ++server)
    any |= receive_back(worker.group.post(), worker.cast.process_of_server(server),
                        map_shard(worker.crew, worker.updater, worker.cast.servers, server), worker.crew.weights(),
                        worker.updater);
  if (any) worker.crew.refresh_weight_forms();
}

}  // namespace trireme::strategy
