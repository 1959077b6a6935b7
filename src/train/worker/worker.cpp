#include "train/worker/worker.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <mutex>
#include <thread>

#include "base/error.h"
#include "base/index.h"
#include "base/system/clock.h"
#include "comm/mailbox/clock_offset.h"
#include "train/evaluation/evaluate.h"
#include "train/messages/role_mailbox.h"
#include "train/run_folder/start_weights.h"

namespace trireme::train {
namespace {

constexpr int kHelm = strategy::RoleMap::kHelm;
constexpr int kLoadedAhead = 3;
constexpr double kLinkSeconds = 2;  // how often to say what connections carry

using base::at;

StepSums sums_of(const strategy::StepReport& report, double lr) {
  return {report.loss, report.correct, static_cast<double>(report.samples), report.penalty, lr};
}

}  // namespace

// The loader of synchronous steps is kept from interval to interval, as long as the steps are consecutive.
struct Worker::Ahead {
  std::size_t phase = 0;
  std::int64_t next = 0;     // the step to compute next
  std::int64_t loading = 0;  // the step to load next
  std::unique_ptr<data::Loader> loader;
};

Worker::Worker(const Context& context)
    : context_(context),
      schedule_(optim::make_schedule(context.settings.text("schedule"))),
      slowdown_(parse_slow(context.settings.text("slow"), context.roles.workers)),
      ledger_(context.experiment.train->size()) {
  const Experiment& e = context_.experiment;
  crew::CrewOptions options = e.crew_options;
  options.spans = context_.spans;
  options.profile = context_.settings.flag("profile");
  if (context_.roles.workers > 1)
    options.between = [this](double left) {
      if (core_rotation_) core_rotation_->look(left);
    };
  crew_ = std::make_unique<crew::Crew>(e.network, options);
  updater_ = std::make_unique<strategy::Updater>(*crew_, context_.optimizer, context_.settings.number("clip"));
  fill_fresh_weights(*crew_, e.network.initialiser(), e.seed);
  if (context_.spans != nullptr) spans_.emplace(*context_.spans);
}

Worker::~Worker() = default;

void Worker::prepare(std::span<float> gradients, std::span<float> host_weights, const std::vector<int>& threads) {
  gradients_ = gradients;
  host_weights_ = host_weights;
  assignment_ = std::make_unique<strategy::OarAssignment>(
      strategy::parse_assignment(context_.settings.text("assign"), context_.experiment.oars, context_.roles.workers),
      context_.experiment.oars, threads, kLoadedAhead + 1, 0);
}

void Worker::share_cores(std::vector<strategy::CoreSlot*> core_slots) {
  const Experiment& e = context_.experiment;
  if (e.threads != 1 || e.crew_options.cpus.size() != 1 || core_slots.size() < 2) return;
  core_rotation_.emplace(std::move(core_slots), at(context_.worker), e.crew_options.cpus[0]);
}

void Worker::leave_group() {
  strategy_.reset();
  ahead_.reset();
  host_weights_ = {};  // memory of the group
}

void Worker::regroup(const strategy::RoleMap& roles, int worker, std::vector<strategy::Phase> phases,
                     const std::vector<int>& threads) {
  base::check(strategy_ == nullptr, "worker {} has a strategy of the group before", worker);
  context_.roles = roles;
  context_.worker = worker;
  context_.phases = std::move(phases);
  strategy::AssignOptions options;
  if (const std::string& text = context_.settings.text("assign"); text != "measured")
    options.by = strategy::AssignBy::even;
  assignment_ =
      std::make_unique<strategy::OarAssignment>(options, context_.experiment.oars, threads, kLoadedAhead + 1, 0);
}

void Worker::follow_orders() {
  comm::Mailbox& mailbox = context_.group.mailbox();
  for (bool goes_on = true; goes_on;)
    std::visit(
        Match{[&](const ComputeOrder& order) { compute(order); }, [&](const EvaluateOrder& order) { evaluate(order); },
              [&](const HandOverOrder& order) { hand_over(order); }, [&](const SendStateOrder&) { give_state(); },
              [&](const ReceiveStateOrder& order) { take_state(order); },
              [&](const ClockOrder&) { comm::answer_clock(mailbox, kHelm, kClock); },
              [&](const AcknowledgeOrder&) { send_to_helm(Acknowledgement{}); },
              [&](const SendSpansOrder&) {
                if (context_.send_spans) context_.send_spans();
                send_to_helm(Acknowledgement{});
              },
              [&](const SendUpdatesOrder&) { send_updates(mailbox, kHelm, updater_->captured()); },
              [&](const SendTrafficOrder&) { send_to_helm(traffic_of(context_.group)); },
              [&](const EndOrder&) { goes_on = false; }},
        receive_order(mailbox, kHelm, kOrder));
}

strategy::WorkerContext Worker::as_strategies_see_it() {
  return {.replica = *crew_,
          .updater = *updater_,
          .group = context_.group,
          .roles = context_.roles,
          .worker = context_.worker,
          .assignment = *assignment_,
          .gradients = gradients_,
          .exact = context_.settings.text("reduce") == "exact",
          .host_weights = host_weights_,
          .cpus = context_.experiment.cores.cpus,
          .spans = context_.spans,
          .version = version_};
}

strategy::Strategy& Worker::strategy_of(std::size_t phase) {
  if (strategy_ && strategy_phase_ == phase) return *strategy_;
  strategy_.reset();
  strategy_ = context_.phases[phase].strategy->make_worker_side(as_strategies_see_it());
  strategy_phase_ = phase;
  return *strategy_;
}

data::LoaderOptions Worker::loader_options() const {
  data::LoaderOptions options = train::loader_options(context_.experiment);
  options.depth = kLoadedAhead;
  if (spans_)
    options.made = [this](const data::Batch& batch, std::int64_t start_ns) {
      spans_->add_batch(step_of(batch) + 1, batch.samples, start_ns);
    };
  return options;
}

// The samples of some oars of a step's batch; steps count from 0.
data::Slice Worker::slice_of(std::int64_t step, base::Range oars) const {
  const Experiment& e = context_.experiment;
  data::Slice slice;
  slice.number = step;
  slice.epoch = step / e.steps_per_epoch;
  slice.position = step % e.steps_per_epoch * e.batch;
  slice.batch_samples = std::min(e.batch, e.train->size() - slice.position);
  const auto first_of = [&](std::int64_t oar) { return oar * slice.batch_samples / e.oars; };
  slice.part = {first_of(oars.begin), first_of(oars.end)};
  return slice;
}

// Counted from 0.
std::int64_t Worker::step_of(const data::Batch& batch) const {
  const Experiment& e = context_.experiment;
  return batch.epoch * e.steps_per_epoch + (batch.position - batch.first) / e.batch;
}

double Worker::lr_at(std::int64_t step) const {
  const Experiment& e = context_.experiment;
  return schedule_->lr(context_.optimizer->lr(), step, e.steps_per_epoch, e.total_steps);
}

bool Worker::told_to_stop() {
  char word = 0;
  if (context_.worker != 0) return false;
  return context_.group.mailbox()
      .receive_within(0, kHelm, kStop, std::as_writable_bytes(std::span(&word, 1)))
      .has_value();
}

void Worker::send_to_helm(const Report& report) { send_report(context_.group.mailbox(), kHelm, report); }

void Worker::report_links(double after_seconds) {
  if (context_.roles.world() == 1 || base::seconds_since(links_reported_ns_) < after_seconds) return;
  links_reported_ns_ = base::now_ns();
  if (std::vector<observe::TcpLoad> links = observe::tcp_loads(); !links.empty())
    send_to_helm(LinksMessage{context_.worker, std::move(links)});
}

void Worker::compute(const ComputeOrder& order) {
  phase_ = order.phase;
  if (order.new_ledger) ledger_.clear();
  updater_->watch(order.watched_step);
  if (context_.phases[phase_].traits().is_synchronous)
    compute_together(phase_, order.from, order.to);
  else
    compute_shares(phase_, order.from, order.lr_scale);
  report_links(0);
  send_to_helm(IntervalEndMessage{context_.worker, strategy_->take_synchronisations(), ledger_.text()});
}

strategy::StepReport Worker::one_step(const data::Batch& batch, base::Range oars, std::int64_t step, double lr,
                                      double loaded, base::Range mean_over) {
  view_.samples = batch.batch_samples;
  view_.first = batch.first;
  view_.target = batch.target.floats();
  view_.indices = std::span(batch.indices).first(at(batch.samples));
  view_.inputs.clear();
  for (const tensor::Buffer& input : batch.inputs) view_.inputs.push_back(input.floats());
  strategy::Work work;
  work.batch = view_;
  work.random = {context_.experiment.seed, static_cast<std::uint64_t>(batch.epoch)};
  work.oars = oars;
  work.mean_over = mean_over;
  work.step = step + 1;
  work.lr = lr;
  work.load_seconds = loaded;
  work.wants_stop = told_to_stop();
  const auto samples = static_cast<double>(batch.samples);
  const std::int64_t start = base::now_ns();
  const double sleep = slowdown_.seconds(context_.worker, step, context_.roles.workers, sample_seconds_ * samples);
  if (sleep > 0) std::this_thread::sleep_for(std::chrono::duration<double>(sleep));
  work.slept_seconds = sleep;
  if (context_.spans != nullptr) context_.spans->begin_step(work.step);
  const bool together = core_rotation_ && context_.phases[phase_].traits().is_synchronous;
  if (together) core_rotation_->begin(step + 1);
  strategy::StepReport report = strategy_->step(work);
  version_ = work.step;
  const observe::StepSeconds& s = report.seconds;
  if (samples > 0) {
    const double each = (s.compute() - sleep) / samples;
    sample_seconds_ = sample_seconds_ == 0 ? each : std::min(sample_seconds_, each);
  }
  if (spans_) spans_->add(work.step, start - static_cast<std::int64_t>(loaded * 1e9), report);
  ledger_.use(batch.position, view_.indices);
  report_links(kLinkSeconds);
  return report;
}

// A synchronous interval: all workers make the same steps.
void Worker::compute_together(std::size_t phase, std::int64_t from, std::int64_t to) {
  strategy::Strategy& strategy = strategy_of(phase);
  const bool holds_shares = context_.phases[phase].traits().holds_shares;
  if (!ahead_ || ahead_->phase != phase || ahead_->next != from) {
    ahead_ = std::make_unique<Ahead>();
    ahead_->phase = phase;
    ahead_->next = ahead_->loading = from;
    if (holds_shares) assignment_->hold(from + 1);
    data::LoaderOptions options = loader_options();
    options.slices = [this, ahead = ahead_.get(),
                      end = std::min(context_.phases[phase].until, context_.experiment.total_steps)]() {
      const std::int64_t step = ahead->loading++;
      if (step >= end) return std::optional<data::Slice>();
      return std::optional(slice_of(step, assignment_->share(step + 1, context_.worker)));
    };
    ahead_->loader = std::make_unique<data::Loader>(training_samples(context_.experiment), options);
  }
  bool stopped = false;
  for (std::int64_t step = from; step < to && !stopped; ++step) {
    const std::int64_t start = base::now_ns();
    const data::Batch* batch = ahead_->loader->next();
    base::check(batch != nullptr && batch->number == step, "the loader ended at step {}", step);
    const std::vector<base::Range> shares = assignment_->shares(step + 1);  // the assignment counts steps from 1
    const double lr = lr_at(step);
    const strategy::StepReport report =
        one_step(*batch, shares[at(context_.worker)], step, lr, base::seconds_since(start));
    ahead_->next = step + 1;
    std::vector<double> seconds;
    for (const strategy::WorkerStepReport& note : report.notes) seconds.push_back(note.seconds.compute());
    if (!holds_shares) assignment_->see(step + 1, seconds);
    std::vector<strategy::WorkerStepReport> notes = report.notes;
    notes[at(context_.worker)].seconds = report.seconds;  // complete; the notes were sent before the step ended
    if (context_.worker == 0) send_to_helm(StepMessage{step + 1, sums_of(report, lr), notes, shares});
    stopped = report.must_stop || !std::isfinite(report.loss);
  }
  strategy.end_interval();
}

void Worker::wait_for_limit(std::int64_t interval, std::int64_t clock) {
  comm::Mailbox& mailbox = context_.group.mailbox();
  const auto take = [&](const LimitMessage& message) {
    if (message.interval != interval || message.limit <= limit_) return;
    limit_ = message.limit;
    slowest_ = message.slowest;
  };
  while (const auto message = receive_message_within<LimitMessage>(0, mailbox, kHelm, kLimit)) take(*message);
  while (clock >= limit_) take(receive_message<LimitMessage>(mailbox, kHelm, kLimit));
}

// The next share of the interval. The helm sends it to the leader of a group, which forwards it to the members.
ShareReply Worker::next_share(int pusher, const std::vector<int>& group) {
  comm::Mailbox& mailbox = context_.group.mailbox();
  if (context_.worker != group.front())
    return receive_message<ShareReply>(mailbox, context_.roles.process_of_worker(group.front()), kGroupShare);
  send_to_helm(ShareRequest{pusher});
  const auto share = receive_message<ShareReply>(mailbox, kHelm, kAssign);
  for (std::size_t i = 1; i < group.size(); ++i)
    send_message(mailbox, context_.roles.process_of_worker(group[i]), kGroupShare, share);
  return share;
}

// An asynchronous interval: each pusher computes the shares that it gets from the helm, and waits for others only when
// its staleness bound is reached.
void Worker::compute_shares(std::size_t phase, std::int64_t from, double lr_scale) {
  const strategy::ShareRules& shares = context_.phases[phase].shares();
  const Experiment& e = context_.experiment;
  const int pusher = shares.pusher_of(context_.worker);
  const std::vector<int> group = shares.workers_of(pusher);
  const auto member = static_cast<int>(std::ranges::find(group, context_.worker) - group.begin());
  ahead_.reset();
  strategy::Strategy& strategy = strategy_of(phase);
  limit_ = slowest_ = 0;
  data::LoaderOptions options = loader_options();
  options.depth = 1;  // a prefetched share cannot go to another worker, so prefetch only one
  const auto share_of = std::make_shared<std::map<std::int64_t, base::Range>>();  // the group's share, per loaded batch
  const auto mutex = std::make_shared<std::mutex>();
  const auto own_oars = [members = static_cast<int>(group.size()), member](base::Range share) {
    return strategy::oars_of_member(share, member, members);
  };
  options.slices = [&, share_of, mutex, number = std::int64_t{0}]() mutable -> std::optional<data::Slice> {
    const ShareReply answer = next_share(pusher, group);
    if (answer.step < 0) return std::nullopt;
    data::Slice slice = slice_of(answer.step, own_oars(answer.oars));
    slice.number = number++;
    const std::lock_guard lock(*mutex);
    share_of->emplace(slice.number, answer.oars);
    return slice;
  };
  data::Loader loader(training_samples(e), options);
  for (std::int64_t clock = 0;; ++clock) {
    const std::int64_t start = base::now_ns();
    const data::Batch* batch = loader.next();
    if (batch == nullptr) break;
    base::Range share;
    {
      const std::lock_guard lock(*mutex);
      share = share_of->extract(batch->number).mapped();
    }
    const double loaded = base::seconds_since(start);
    const std::int64_t waiting = base::now_ns();
    const bool leads = member == 0;
    if (leads && !shares.bound.is_none()) wait_for_limit(from, clock);
    const double waited = base::seconds_since(waiting);
    const std::int64_t step = step_of(*batch);
    const double lr = lr_at(step);
    strategy::StepReport report = one_step(*batch, own_oars(share), step, lr * lr_scale, loaded, share);
    if (!leads) continue;
    if (report.notes.empty()) report.notes = {{report.seconds, base::now_ns(), false}};
    report.notes[0].seconds.network += waited;
    send_to_helm(PushMessage{pusher, step + 1, sums_of(report, lr), clock, slowest_, report.notes});
  }
  strategy.end_interval();
}

void Worker::evaluate(const EvaluateOrder& order) {
  const Experiment& e = context_.experiment;
  const data::Dataset& set = order.validation ? *e.validation : *e.test;
  const std::int64_t batches = crew_->evaluation_batches(set.size());
  const base::Range mine =
      context_.worker < order.parts ? base::oar_samples(context_.worker, order.parts, batches) : base::Range{};
  EvaluationSums sums;
  {
    observe::SpanTimer timer(spans_ ? &spans_->steps() : nullptr, observe::SpanKind::evaluate);
    timer.span().arguments[0] = static_cast<double>(mine.size());
    sums = evaluate_part(*crew_, set, e.target_scale, mine);
  }
  send_to_helm(EvaluationReply{std::move(sums.losses), std::move(sums.corrects), std::move(sums.scores),
                               std::move(sums.confusion)});
}

void Worker::hand_over(const HandOverOrder& order) {
  strategy_.reset();
  ahead_.reset();
  state_phase_ = order.phase;
  version_ = order.step;
  if (!order.keeps_state && order.from == strategy::StateOwner::workers) updater_->state().clear();
  context_.phases[order.phase].strategy->import_state(as_strategies_see_it(), order.from);
}

}  // namespace trireme::train
