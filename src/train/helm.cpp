#include "train/helm.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "base/clock.h"
#include "base/error.h"
#include "base/error_of.h"
#include "base/log.h"
#include "base/text.h"
#include "comm/clock_offset.h"
#include "train/helm_text.h"
#include "train/mail.h"
#include "train/resume.h"
#include "train/start_weights.h"

namespace trireme::train {
namespace {

using Json = nlohmann::ordered_json;

constexpr double kLookSeconds = 0.1;  // between two looks at whether somebody wants to stop the run

std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

// A group speaks of ranks, which are processes; people know workers and servers.
std::string in_words_of_the_cast(const std::string& sentence, const strategy::Cast& cast) {
  int rank = 0, length = 0;
  if (std::sscanf(sentence.c_str(), "rank %d%n", &rank, &length) != 1 || rank < 0 || rank >= cast.world())
    return sentence;
  return cast.name(rank) + sentence.substr(at(length));
}

}  // namespace

Helm::Helm(Place place)
    : place_(std::move(place)),
      console_(place_.settings.flag("json") ? stderr : stdout, place_.settings.flag("quiet")),
      checkpoint_every_(place_.settings.integer("checkpoint-every", 0, 1LL << 40)),
      keep_(static_cast<int>(place_.settings.integer("keep", 1, 1 << 20))),
      patience_(place_.settings.integer("early-stopping", 0, 1 << 20)),
      early_stopping_(std::max<std::int64_t>(1, patience_), 0,
                      has_accuracy() ? optim::Better::higher : optim::Better::lower),
      notes_(place_.notes),
      ledger_(place_.experiment.train->size()) {
  progress_.total_steps = place_.experiment.total_steps;
}

Helm::~Helm() = default;

double Helm::epoch_accuracy() const {
  return has_accuracy() ? progress_.epoch_correct / static_cast<double>(progress_.epoch_samples) : kUnknown;
}

std::size_t Helm::phase_of(std::int64_t step) const {
  std::size_t phase = 0;
  while (phase + 1 < place_.phases.size() && step >= place_.phases[phase].until) ++phase;
  return phase;
}

void Helm::order_workers(const std::string& order) {
  for (int w = 0; w < place_.cast.workers; ++w) send_text(post(), place_.cast.process_of_worker(w), kOrder, order);
}

void Helm::order_servers(const std::string& order) {
  for (int k = 0; k < place_.cast.servers; ++k)
    send_text(post(), place_.cast.process_of_server(k), kServerOrder, order);
}

void Helm::compare_clocks() {
  for (int w = 0; w < place_.cast.workers; ++w) {
    const int process = place_.cast.process_of_worker(w);
    if (process == strategy::Cast::kHelm) {
      clock_ahead_ns_.push_back(0);
      continue;
    }
    send_text(post(), process, kOrder, R"({"do":"clock"})");
    clock_ahead_ns_.push_back(comm::ask_clock(post(), process, kClock).ahead_ns);
  }
  lateness_.emplace(clock_ahead_ns_);
}

std::string Helm::conduct() {
  try {
    if (const std::string& resumed = place_.settings.text("resume"); resumed.empty())
      begin_new();
    else
      begin_resumed(resumed);
    compare_clocks();
    open_records();
    say_hello();
    loop();
    for (;;) try {
        std::string summary = finish();
        end_all();
        return summary;
      } catch (const base::Error&) {
        if (!go_on_without_lost()) throw;
      }
  } catch (const std::exception&) {
    const base::Error error = base::error_of(std::current_exception());
    const bool broken = place_.group.is_broken();
    const std::string sentence = broken ? in_words_of_the_cast(place_.group.why_broken(), place_.cast) : error.what();
    if (!broken) keep_trace_of_failure();
    if (!broken) end_all();
    if (error.kind() != base::ErrorKind::run || !folder_) throw;
    base::run_error("{}; go on with: trireme train --resume {}", sentence, folder_->path().string());
  }
}

void Helm::end_all() {
  try {
    order_workers(R"({"do":"end"})");
    order_servers(R"({"do":"end"})");
  } catch (const base::Error&) {  // whoever is gone needs no order
  }
}

Helm::State Helm::memory() {
  State state;
  const auto& space = place_.space;
  if (place_.local.crew != nullptr) {
    state.weights = {place_.local.crew->weights(), at(space.floats())};
    auto& own = place_.local.updater->state();
    for (int s = 0; s < own.slots(); ++s) state.slots.push_back(own.slot(s));
    return state;
  }
  if (own_memory_.empty()) {
    own_memory_.emplace_back(at(space.floats()));
    for (int s = 0; s < place_.optimizer->slots(); ++s) own_memory_.emplace_back(at(space.trained_floats()));
  }
  state.weights = own_memory_[0];
  for (std::size_t s = 1; s < own_memory_.size(); ++s) state.slots.emplace_back(own_memory_[s]);
  return state;
}

void Helm::begin_new() {
  if (const std::string& from = place_.settings.text("init-from"); !from.empty()) {
    State state = memory();
    fill_fresh_weights(place_.experiment.network, place_.space, state.weights, place_.settings.text("init"),
                       place_.experiment.seed);
    notes_.push_back("starts with " + take_weights_from(place_.space, state.weights, from));
    spread(state, false);
  }
  folder_ = RunFolder::create(place_.settings.text("run"), place_.settings.text("model"), place_.settings.text("data"));
  folder_->lock();
  checkpoints_.emplace(folder_->checkpoints(), keep_);
  try {
    write_run_json(*folder_, place_.settings, place_.experiment, place_.prints, world_of_run(place_));
  } catch (const base::Error&) {
    folder_->remove_if_empty();
    throw;
  }
}

void Helm::begin_resumed(const std::string& run) {
  folder_ = RunFolder::open(run);
  folder_->lock();
  check_same_data(*folder_, place_.experiment);
  const std::string other_bits = check_same_kernels(*folder_, place_.prints, place_.settings.flag("allow-other-bits"));
  if (!other_bits.empty()) notes_.push_back(other_bits);
  checkpoints_.emplace(folder_->checkpoints(), keep_);
  const auto check = [this](const store::LoadedCheckpoint& loaded) {
    (void)Progress::from_checkpoint(loaded);
    (void)ledger_of(loaded);
  };
  if (const auto loaded = checkpoints_->latest_valid(check)) {
    restore_from(*loaded);
  } else {
    notes_.emplace_back("the run has no checkpoint yet: it starts from the beginning");
    if (const std::string& from = place_.settings.text("init-from"); !from.empty()) {
      State state = memory();
      fill_fresh_weights(place_.experiment.network, place_.space, state.weights, place_.settings.text("init"),
                         place_.experiment.seed);
      notes_.push_back("starts with " + take_weights_from(place_.space, state.weights, from));
      spread(state, false);
    }
  }
  checkpoints_->drop_after(progress_.step);
  folder_->cut_metrics(progress_.step, progress_.position != 0 && !is_over());
  write_run_json(*folder_, place_.settings, place_.experiment, place_.prints, world_of_run(place_));
  if (is_over()) return;
  std::error_code ignored;
  base::fs::remove(folder_->file("summary.json"), ignored);  // a run without one is not finished
}

data::Ledger Helm::ledger_of(const store::LoadedCheckpoint& loaded) const {
  data::Ledger ledger(place_.experiment.train->size());
  const auto kept = loaded.progress.extra.find("ledger");
  if (kept == loaded.progress.extra.end()) return ledger;
  const Json text = Json::parse(kept->second, nullptr, false);
  if (!text.is_string())
    base::user_error("checkpoint {} is damaged: the ledger in its state.json is no text", loaded.folder.string());
  try {
    ledger.restore(text.get<std::string>());
  } catch (const base::Error& error) {
    base::user_error("checkpoint {} is damaged: {}", loaded.folder.string(), error.what());
  }
  return ledger;
}

void Helm::restore_from(const store::LoadedCheckpoint& loaded) {
  State state = memory();
  std::vector<store::SlotBuffer> slots;
  const auto names = place_.optimizer->slot_names();
  for (std::size_t s = 0; s < state.slots.size(); ++s) slots.push_back({names[s], state.slots[s]});
  store::restore(loaded, place_.space, state.weights, slots);
  spread(state, true);
  progress_ = Progress::from_checkpoint(loaded);
  ledger_ = ledger_of(loaded);
  early_stopping_.restore(progress_.early_stopping);
  stopped_early_ = patience_ > 0 && progress_.early_stopping.bad_epochs >= patience_;
  notes_.push_back(fmt::format("resumed at step {} from {}", progress_.step, loaded.folder.string()));
  const std::string schedule = place_.settings.text("schedule");
  const std::int64_t total = place_.experiment.total_steps;
  if (progress_.total_steps != total && (schedule.starts_with("cosine") || schedule.starts_with("onecycle")))
    notes_.push_back(
        fmt::format("the schedule '{}' now ends at step {} instead of {}; the bits are not those of one run", schedule,
                    total, progress_.total_steps));
  progress_.total_steps = total;
  if (is_over()) notes_.emplace_back("the run is finished; to go on, give more --epochs, --steps or patience");
}

void Helm::spread(const State& state, bool with_optimizer) {
  const std::string order = Json{{"do", "take state"}, {"with optimizer", with_optimizer}}.dump();
  for (int w = 0; w < place_.cast.workers; ++w) {
    if (w == 0 && place_.local.crew != nullptr) {
      place_.local.crew->refresh_weight_forms();
      continue;
    }
    const int process = place_.cast.process_of_worker(w);
    send_text(post(), process, kOrder, order);
    send_values<float>(post(), process, kState, state.weights);
    if (!with_optimizer) continue;
    for (const std::span<float> slot : state.slots) send_values<float>(post(), process, kState, slot);
  }
}

Helm::State Helm::collect() {
  if (!servers_hold_ && place_.local.crew != nullptr) return memory();
  State state = memory();
  const auto take = [&](int from, std::span<float> into) {
    receive_bytes(post(), from, kState, std::as_writable_bytes(into));
  };
  if (!servers_hold_) {
    const int process = place_.cast.process_of_worker(0);
    send_text(post(), process, kOrder, R"({"do":"give state"})");
    take(process, state.weights);
    for (const std::span<float> slot : state.slots) take(process, slot);
    return state;
  }
  for (int k = 0; k < place_.cast.servers; ++k) {
    const int process = place_.cast.process_of_server(k);
    send_text(post(), process, kServerOrder, R"({"do":"give state"})");
    std::array<std::int64_t, 4> ranges{};  // of its weights and statistics, and of its optimizer's state
    receive_bytes(post(), process, kState, std::as_writable_bytes(std::span(ranges)));
    take(process, state.weights.subspan(at(ranges[0]), at(ranges[1] - ranges[0])));
    for (const std::span<float> slot : state.slots)
      take(process, slot.subspan(at(ranges[2]), at(ranges[3] - ranges[2])));
  }
  return state;
}

// Weights and state go to where the next phase wants them.
void Helm::hand_over_to(std::size_t next) {
  const strategy::Phase& phase = place_.phases[next];
  const std::int64_t start = base::now_ns();
  const bool switches = next > 0 && progress_.step == place_.phases[next - 1].until;
  const bool keeps = !switches || phase.keeps_state;
  const auto order = [&](const char* to, bool keeps_state) {
    const std::string text = Json{{"do", "hand over"}, {"to", to}, {"keeps state", keeps_state}}.dump();
    order_workers(text);
    if (place_.cast.servers > 0) order_servers(text);
  };
  if (servers_hold_ && !(phase.plan.servers_hold() && keeps)) {
    order("workers", keeps);
    servers_hold_ = false;
  } else if (!keeps) {
    order("nobody", false);
  }
  if (phase.plan.servers_hold() && !servers_hold_) order("servers", true);
  servers_hold_ = phase.plan.servers_hold();
  phase_ = next;
  // An answer to a question comes after the orders before it are done.
  order_workers(R"({"do":"say when done"})");
  for (int w = 0; w < place_.cast.workers; ++w) receive_text(post(), place_.cast.process_of_worker(w), kText);
  trace_.add("hand over", kHelmLane, start, base::now_ns());
  if (!switches) return;
  hand_over_seconds_ = std::max(hand_over_seconds_, base::seconds_since(start));
  ++hand_overs_;
  console_.line(fmt::format("step {}: {} takes over, after {}", progress_.step, phase.plan.text,
                            base::human_seconds(base::seconds_since(start))));
}

void Helm::loop() {
  start_ns_ = epoch_start_ns_ = base::now_ns();
  start_step_ = met_at_ = progress_.step;
  seconds_before_ = progress_.seconds;
  while (!is_over() || meeting_is_due_) try {
      if (!meeting_is_due_) {
        const std::size_t next = phase_of(progress_.step);
        if (next != phase_ || place_.phases[next].plan.servers_hold() != servers_hold_) hand_over_to(next);
        row_until(coordinator_ ? coordinator_->to() : next_meeting());
        meeting_is_due_ = progress_.step > met_at_;  // not when it was interrupted before the first step
      }
      if (meeting_is_due_) hold_meeting();
      meeting_is_due_ = false;
      met_at_ = progress_.step;
      if (interrupted_ && !is_over()) base::run_error("interrupted after step {}", progress_.step);
    } catch (const base::Error&) {
      if (!go_on_without_lost()) throw;
    }
}

void Helm::hold_meeting() {
  const bool epoch_over = progress_.position == 0;
  if (epoch_over || is_over())
    end_epoch(epoch_over);
  else if (interrupted_ || (checkpoint_every_ > 0 && progress_.step % checkpoint_every_ == 0))
    checkpoint(collect(), false);
}

bool Helm::go_on_without_lost() {
  if (!place_.group.is_broken() || !plan().outlives_workers()) return false;
  const auto regrouped = place_.regroup();
  if (!regrouped) return false;
  for (const int worker : regrouped->lost) {
    const std::string who =
        fmt::format("worker {} on {}", worker, place_.hosts[at(place_.cast.process_of_worker(worker))]);
    forget_worker(worker);
    lost_.push_back(who);
    console_.line(
        fmt::format("step {}: {} is gone; going on with {} workers", progress_.step, who, regrouped->cast.workers));
  }
  place_.cast = regrouped->cast;
  place_.phases = regrouped->phases;
  place_.hosts = regrouped->hosts;
  place_.threads = regrouped->threads;
  if (coordinator_) coordinator_->begin_again(rowers());
  return true;
}

// What it used of the training set is known from what it was handed.
void Helm::forget_worker(int worker) {
  const Experiment& e = place_.experiment;
  const data::Distribution distribution(*e.train, e.distribution, e.batch, e.seed, true);
  if (at(worker) < pushed_.size()) {
    for (const Coordinator::Share& share : pushed_[at(worker)]) {
      const std::int64_t position = share.step % e.steps_per_epoch * e.batch;
      const std::int64_t samples = std::min(e.batch, e.train->size() - position);
      const std::int64_t first = share.oars.begin * samples / e.oars, end = share.oars.end * samples / e.oars;
      std::vector<std::int64_t> indices(at(end - first));
      distribution.order(static_cast<std::uint64_t>(share.step / e.steps_per_epoch)).fill(position + first, indices);
      ledger_.use(position + first, indices);
    }
    pushed_.erase(pushed_.begin() + worker);
  }
  if (at(worker) < ledger_parts_.size()) ledger_parts_.erase(ledger_parts_.begin() + worker);
  clock_ahead_ns_.erase(clock_ahead_ns_.begin() + worker);
  lateness_->lose(worker);
}

// The step before which the next stretch ends.
std::int64_t Helm::next_meeting() const {
  const Experiment& e = place_.experiment;
  const std::int64_t step = progress_.step;
  std::int64_t next = std::min(e.total_steps, (step / e.steps_per_epoch + 1) * e.steps_per_epoch);
  if (checkpoint_every_ > 0) next = std::min(next, (step / checkpoint_every_ + 1) * checkpoint_every_);
  if (const std::int64_t until = place_.phases[phase_].until; until > step) next = std::min(next, until);
  return next;
}

void Helm::row_until(std::int64_t to) {
  const std::int64_t start = base::now_ns(), from = coordinator_ ? coordinator_->from() : progress_.step;
  const std::size_t workers = at(place_.cast.workers);
  ended_ = 0;
  told_to_stop_ = false;
  limits_.assign(at(rowers()), -1);
  ledger_parts_.resize(workers);
  pushed_.resize(workers);
  if (new_ledger_) {
    std::ranges::fill(ledger_parts_, std::nullopt);
    std::ranges::fill(pushed_, std::vector<Coordinator::Share>());
  }
  if (!plan().is_synchronous() && !coordinator_)
    coordinator_.emplace(rowers(), place_.experiment.oars, from, to, plan().bound);
  const double lr_scale = plan().lr_scale > 0 || !coordinator_ ? plan().lr_scale : 1.0 / coordinator_->cut();
  const std::string order = Json{{"do", "row"}, {"phase", phase_},      {"from", from},
                                 {"to", to},    {"lr scale", lr_scale}, {"new ledger", new_ledger_}}
                                .dump();
  order_workers(order);
  if (plan().needs_servers()) order_servers(order);
  new_ledger_ = false;
  send_limits();
  while (ended_ < place_.cast.workers) hear();
  if (coordinator_)
    for (const auto& [pushes, count] : coordinator_->staleness()) staleness_[pushes] += count;
  coordinator_.reset();
  seconds_.stretches += base::seconds_since(start);
  if (failure_) std::rethrow_exception(failure_);
}

void Helm::hear() {
  if (!interrupted_ && place_.interrupted()) {
    interrupted_ = true;
    stop_stretch();
  }
  if (other_resources_) {
    std::array<char, 1024> line{};
    while (const auto got =
               post().receive_within(0, comm::kAnyRank, kResources, std::as_writable_bytes(std::span(line))))
      other_resources_->write(std::string(line.data(), got->bytes));
  }
  const auto row = receive_row(post(), kReport, kLookSeconds, report_room_);
  if (!row) return;
  if (kind_of(row->numbers) == ReportKind::failure)  // nobody can finish the stretch any more
    base::run_error("{}: {}", place_.cast.name(row->from), receive_text(post(), row->from, kText));
  try {
    hear_row(row->numbers, row->from);
  } catch (const base::Error&) {
    if (place_.group.is_broken()) throw;
    // The workers end their stretch first; then the run ends with it.
    if (!failure_) failure_ = std::current_exception();
    stop_stretch();
  }
}

void Helm::hear_row(std::span<const double> numbers, int from) {
  const StepNews news = step_news(numbers);
  switch (news.kind) {
    case ReportKind::step:
      if (failure_) return;
      shares_ = news.shares;
      lateness_->see(news.notes);
      return on_step({news.step, news.loss, news.correct, news.samples, news.penalty, news.lr, mean_of(news.notes)});
    case ReportKind::ask: return answer_question(news.worker);
    case ReportKind::push: return hear_push(news);
    case ReportKind::end_of_stretch:
      ++ended_;
      if (news.worker == 0) synchronisations_ += news.synchronisations;
      ledger_parts_[at(news.worker)].emplace(place_.experiment.train->size());
      ledger_parts_[at(news.worker)]->restore(receive_text(post(), from, kText));
      return;
    case ReportKind::failure: return;
  }
}

void Helm::hear_push(const StepNews& push) {
  for (std::size_t i = 0; i < push.notes.size(); ++i)
    lateness_->add_push(plan().workers_of(push.worker).at(i), push.notes[i].seconds);
  const Coordinator::Share share = coordinator_->in_hand(push.worker);
  const std::vector<int> members = plan().workers_of(push.worker);
  for (std::size_t i = 0; i < members.size(); ++i)
    pushed_[at(members[i])].push_back(
        {share.step, strategy::oars_of_member(share.oars, static_cast<int>(i), static_cast<int>(members.size()))});
  const std::vector<Coordinator::Step> steps = coordinator_->done(push, base::now_ns());
  send_limits();
  if (failure_) return;
  metrics_->write(Json{{"type", "push"},
                       {"step", push.step},
                       {plan().groups.empty() ? "worker" : "group", push.worker},
                       {"clock", push.clock},
                       {"slowest", plan().bound.is_none() ? Json(nullptr) : Json(push.slowest)}}
                      .dump());
  for (const Coordinator::Step& step : steps)
    on_step({step.step, step.loss, step.correct, step.samples, step.penalty, step.lr, step.seconds});
}

void Helm::answer_question(int rower) {
  const Coordinator::Share share = coordinator_->hand_out(rower);
  const std::array<std::int64_t, 3> answer{share.step, share.oars.begin, share.oars.end};
  send_values<std::int64_t>(post(), process_of_rower(rower), kAssign, answer);
  if (share.step >= 0) return;
  coordinator_->leave(rower);
  send_limits();
}

void Helm::send_limits() {
  if (!coordinator_ || plan().bound.is_none()) return;
  for (int r = 0; r < rowers(); ++r) {
    const std::int64_t limit = coordinator_->clocks().limit(r);
    if (limit == limits_[at(r)]) continue;
    limits_[at(r)] = limit;
    const std::array<std::int64_t, 3> message{coordinator_->from(), limit, coordinator_->clocks().slowest()};
    send_values<std::int64_t>(post(), process_of_rower(r), kLimit, message);
  }
}

void Helm::stop_stretch() {
  if (told_to_stop_) return;
  told_to_stop_ = true;
  if (coordinator_) return coordinator_->stop();
  const char word = 1;
  send_values<char>(post(), place_.cast.process_of_worker(0), kStop, std::span(&word, 1));
}

void Helm::on_step(const StepResult& r) {
  const Experiment& e = place_.experiment;
  const std::int64_t epoch = (r.step - 1) / e.steps_per_epoch;
  if (!std::isfinite(r.loss)) stop_at_nan("loss", r.loss, r.step, epoch + 1);
  lr_ = r.lr;
  progress_.step = r.step;
  progress_.epoch_loss += r.loss + r.penalty * r.samples;
  progress_.epoch_correct += r.correct;
  progress_.epoch_samples += static_cast<std::int64_t>(r.samples);
  progress_.position += static_cast<std::int64_t>(r.samples);
  if (progress_.step % e.steps_per_epoch == 0) {
    progress_.position = 0;
    ++progress_.epoch;
  }
  samples_here_ += static_cast<std::int64_t>(r.samples);
  const strategy::StepSeconds& s = r.seconds;
  seconds_.add_step({.load = s.load,
                     .forward = s.forward,
                     .backward = s.backward,
                     .network = s.network,
                     .update = s.update,
                     .hidden_network = s.hidden});
  const double loss = r.loss / r.samples + r.penalty;
  metrics_->write(step_line(r.step, epoch, loss, has_accuracy() ? r.correct / r.samples : kUnknown, r.lr, s));
  const double passed = base::seconds_since(start_ns_);
  const auto steps = static_cast<double>(progress_.step - start_step_);
  console_.step({progress_.step, e.total_steps, epoch, epoch_loss(), epoch_accuracy(),
                 static_cast<double>(samples_here_) / passed,
                 passed / steps * static_cast<double>(e.total_steps - progress_.step)});
}

// Before anything of it reaches a checkpoint.
void Helm::stop_at_nan(const char* what, double value, std::int64_t step, std::int64_t epoch) const {
  const auto last = checkpoints_->latest();
  base::run_error("the {} became {} at step {} (epoch {}), {}; try a lower learning rate or --clip 1", what, value,
                  step, epoch, last ? "the last good checkpoint is " + last->string() : "before the first checkpoint");
}

}  // namespace trireme::train
