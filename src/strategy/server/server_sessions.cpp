#include "strategy/server/server_sessions.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <thread>

#include "base/cpu/add_into.h"
#include "base/cpu/simd.h"
#include "base/cpu/thread_name.h"
#include "base/error.h"
#include "base/index.h"
#include "base/system/clock.h"
#include "optim/clip.h"
#include "strategy/server/global_norm.h"

namespace trireme::strategy {
namespace {

using base::at;

constexpr std::chrono::milliseconds kFailureLook{200};  // how often to check whether another session has failed
constexpr std::int64_t kPieceFloats = 16 * 1024;        // floats added at a time, so that they stay in cache
constexpr int kMostPartials = 1024;
constexpr int kSessionLane = 3000;  // of a server in the trace; one for each worker and lane

}  // namespace

ServerSessions::ServerSessions(comm::Group& group, const RoleMap& roles, int server, Shard* shard, double max_norm,
                               const ServeOptions& options)
    : group_(group),
      mailbox_(group.mailbox()),
      roles_(roles),
      server_(server),
      workers_(options.workers),
      shard_(shard),
      max_norm_(max_norm),
      options_(options),
      clips_(max_norm > 0 && options.synchronous && !options.returns_gradients) {
  base::check(options.synchronous || !options.returns_gradients, "only synchronous servers return gradients");
  base::check((shard == nullptr) == options.returns_gradients, "a server has a shard exactly when it makes the update");
  for (int worker = 0; options.workers.empty() && worker < roles.workers; ++worker) workers_.push_back(worker);
}

void ServerSessions::run() {
  receive_beginnings();
  std::vector<Session> sessions;
  for (std::size_t place = 0; place < workers_.size(); ++place)
    for (int lane = 0; lane < kLanes; ++lane)
      sessions.push_back({.worker = workers_[place], .lane = lane, .place = place, .spans = span_lane(place, lane)});
  {
    std::vector<std::jthread> threads;
    try {
      for (Session& session : sessions)
        threads.emplace_back([this, &session] {
          base::name_this_thread("session");
          run_session(session);
        });
    } catch (...) {  // the system's limit of threads is reached
      failed_.store(true, std::memory_order_release);
      throw;
    }
  }
  if (failure_) std::rethrow_exception(failure_);
}

// Receives every worker's BeginHead and buckets, which must be equal, and sets up the stripes.
void ServerSessions::receive_beginnings() {
  std::vector<WireBucket> first;
  for (const int worker : workers_) {
    const int from = roles_.process_of_worker(worker);
    const auto head = receive_one<BeginHead>(mailbox_, from, kBeginTag, failed_);
    std::vector<WireBucket> buckets(at(head.buckets));
    receive_array<WireBucket>(mailbox_, from, kBeginTag, buckets, failed_);
    check_encodings(buckets, worker, server_);
    base::check((head.synchronous != 0) == options_.synchronous &&
                    (head.returns_gradients != 0) == options_.returns_gradients && (head.clips != 0) == (max_norm_ > 0),
                "worker {} and server {} do not agree on how they work together", worker, server_);
    if (worker == workers_[0]) {
      first = buckets;
      begin_ = head;
    }
    base::check(buckets == first && head.oars == begin_.oars && head.is_exact == begin_.is_exact,
                "workers {} and {} do not agree on the buckets of server {}", workers_[0], worker, server_);
  }
  for (const WireBucket& bucket : first) {
    stripes_.push_back(std::make_unique<Stripe>());
    Stripe& stripe = *stripes_.back();
    stripe.floats = bucket.floats;
    stripe.chunks = bucket.chunks;
    stripe.held.resize(workers_.size());
    if (options_.returns_gradients || (clips_ && !stripe.is_statistics())) stripe.sum.resize(at(bucket.floats.size()));
  }
  lanes_in_use_ = std::min<int>(kLanes, static_cast<int>(stripes_.size()));
  if (clips_) squares_.resize(shard_->map().chunks.size());
}

void ServerSessions::run_session(Session& session) noexcept {
  base::set_flush_to_zero();
  try {
    converse(session);
  } catch (...) {
    const std::lock_guard lock(failure_mutex_);
    if (!failure_) failure_ = std::current_exception();
    failed_.store(true, std::memory_order_release);
  }
}

void ServerSessions::converse(Session& session) {
  for (;;) {
    receive_request(session);
    if (session.head.request == RequestKind::end) return;
    base::check(session.head.bucket >= 0 && at(session.head.bucket) < stripes_.size(),
                "worker {} names bucket {}, server {} has {}", session.worker, session.head.bucket, server_,
                stripes_.size());
    Stripe& stripe = *stripes_[at(session.head.bucket)];
    find_places(session);
    if (session.head.request == RequestKind::pull) {
      {
        const std::lock_guard lock(stripe.mutex);
        std::ranges::copy(shard_->weights(stripe.floats), session.reply.begin());
      }
      reply(session, session.reply);
      continue;
    }
    const std::int64_t start_ns = base::now_ns();
    receive_partials(session);
    record(session, observe::SpanKind::receive_push, start_ns);
    session.received_ns = base::now_ns();
    note_step(session.head.step);
    if (options_.synchronous)
      take_synchronous(session);
    else
      take_at_once(session);
  }
}

observe::SpanLane* ServerSessions::span_lane(std::size_t place, int lane) const {
  if (options_.spans == nullptr) return nullptr;
  return &options_.spans->lane(kSessionLane + static_cast<int>(place) * kLanes + lane,
                               fmt::format("worker {}, lane {}", workers_[place], lane));
}

// A span of a push that ends now. No arrows back with clipping, where the replies of all buckets come together.
void ServerSessions::record(const Session& session, observe::SpanKind kind, std::int64_t start_ns) const {
  if (session.spans == nullptr || session.head.request != RequestKind::push) return;
  const int own = mailbox_.rank(), its = roles_.process_of_worker(session.worker);
  const auto arrow = [&](observe::SpanKind of, int from, int to) {
    return observe::arrow_number(of, session.head.step, from, to, session.head.bucket);
  };
  const bool receives = kind == observe::SpanKind::receive_push, replies = kind == observe::SpanKind::reply;
  session.spans->add({.start_ns = start_ns,
                      .end_ns = base::now_ns(),
                      .step = session.head.step,
                      .arrow_out = replies && !clips_ ? arrow(observe::SpanKind::reply, own, its) : 0,
                      .arrow_in = receives ? arrow(observe::SpanKind::push, its, own) : 0,
                      .arguments = {static_cast<double>(session.head.bucket),
                                    static_cast<double>(session.reply.size_bytes()), static_cast<double>(its)},
                      .kind = kind});
}

void ServerSessions::note_step(std::int64_t step) {
  std::int64_t last = last_step_.load(std::memory_order_relaxed);
  while (last < step && !last_step_.compare_exchange_weak(last, step, std::memory_order_relaxed)) {
  }
}

void ServerSessions::receive_request(Session& session) {
  const std::size_t ends = workers_.size() * sizeof(std::int64_t);
  std::vector<std::byte> message(sizeof(RequestHead) + ends + (1 + kMostPartials) * sizeof(comm::WindowAddress));
  const std::size_t bytes = receive_patiently(mailbox_, roles_.process_of_worker(session.worker),
                                              kPushTag + static_cast<comm::Tag>(session.lane), message, failed_);
  base::check(bytes >= sizeof(RequestHead), "worker {} sent a request of {} bytes", session.worker, bytes);
  std::memcpy(&session.head, message.data(), sizeof session.head);
  const RequestHead& head = session.head;
  base::check(head.partials >= 0 && head.partials <= kMostPartials, "worker {} has {} partials", session.worker,
              head.partials);
  std::span<const std::byte> rest(message.data() + sizeof head, bytes - sizeof head);
  const auto take = [&](auto& into, std::size_t count) {
    into.resize(count);
    const auto to = std::as_writable_bytes(std::span(into));
    base::check(rest.size() >= to.size(), "worker {} sent a request of {} bytes", session.worker, bytes);
    std::ranges::copy(rest.first(to.size()), to.begin());
    rest = rest.subspan(to.size());
  };
  take(session.ends, options_.synchronous && head.request == RequestKind::push ? workers_.size() : 0);
  take(session.places, head.has_places != 0 ? 1 + at(head.partials) : 0);
  base::check(rest.empty(), "worker {} sent a request of {} bytes", session.worker, bytes);
}

// Sets session.reply and session.partials: in the worker's memory if the request names places there, else in
// session.memory.
void ServerSessions::find_places(Session& session) {
  const auto floats = at(stripes_[at(session.head.bucket)]->floats.size());
  const auto partials = at(session.head.partials);
  session.partials.clear();
  if (session.places.empty()) {
    const std::size_t arrays = std::max<std::size_t>(partials, 1);
    if (session.memory.size() < arrays) session.memory.resize(arrays);
    for (std::vector<float>& each : session.memory)
      if (each.size() < floats) each.resize(floats);
    for (std::size_t p = 0; p < partials; ++p) session.partials.push_back(std::span(session.memory[p]).first(floats));
    session.reply = std::span(session.memory[0]).first(floats);
    return;
  }
  const auto at_place = [&](const comm::WindowAddress& place) {
    const std::span<float> there = group_.at(roles_.process_of_worker(session.worker), place, floats);
    base::check(there.size() == floats, "worker {} names an array at {} of window {}, which is not there",
                session.worker, place.offset, place.window);
    return there;
  };
  session.reply = at_place(session.places[0]);
  for (std::size_t p = 0; p < partials; ++p) session.partials.push_back(at_place(session.places[1 + p]));
}

void ServerSessions::receive_partials(Session& session) {
  if (!session.places.empty()) return;
  for (const std::span<float> partial : session.partials)
    receive_array<float>(mailbox_, roles_.process_of_worker(session.worker),
                         kPushTag + static_cast<comm::Tag>(session.lane), partial, failed_);
}

// `floats` may be session.reply itself.
void ServerSessions::reply(const Session& session, std::span<const float> floats) {
  record(session, observe::SpanKind::handle_push, session.received_ns);
  const std::int64_t start_ns = base::now_ns();
  const bool in_place = !session.places.empty();
  if (in_place && roles_.process_of_worker(session.worker) != mailbox_.rank())
    group_.traffic().add(floats.size_bytes(), session.partials.size() * session.reply.size_bytes());
  if (in_place && floats.data() != session.reply.data()) std::ranges::copy(floats, session.reply.begin());
  mailbox_.send(roles_.process_of_worker(session.worker), kReplyTag + static_cast<comm::Tag>(session.lane),
                std::as_bytes(in_place ? std::span<const float>() : floats));
  record(session, observe::SpanKind::reply, start_ns);
}

template <class Done>
void ServerSessions::wait(std::unique_lock<std::mutex>& lock, std::condition_variable& changed, const Done& is_done) {
  while (!is_done()) {
    // Whatever is missing, another session waits for it by mailbox, and fails when the group's alarm is raised.
    if (failed_.load(std::memory_order_acquire)) base::run_error("another session of server {} has failed", server_);
    changed.wait_for(lock, kFailureLook);
  }
}

optim::StepScalars ServerSessions::scalars(const RequestHead& head, double clip) const {
  optim::StepScalars scalars;
  scalars.step = head.step;
  scalars.lr = head.lr;
  scalars.clip = clip;
  shard_->state().optimizer().prepare(scalars);
  return scalars;
}

void ServerSessions::take_synchronous(Session& session) {
  Stripe& stripe = *stripes_[at(session.head.bucket)];
  {
    std::unique_lock lock(stripe.mutex);
    auto& held = stripe.held[session.place];
    held.clear();
    for (int p = 0; p < session.head.partials; ++p) held.push_back(session.partials[at(p)].data());
    if (++stripe.arrived == workers()) {
      add_up(stripe, session);
      stripe.arrived = 0;
      ++stripe.steps;
      stripe.changed.notify_all();
    } else {
      wait(lock, stripe.changed, [&, steps = stripe.steps] { return stripe.steps != steps; });
    }
  }
  // The sum and the weights may be read without the lock: they change when the last worker pushes this bucket again,
  // and no worker does before it has its reply.
  if (clips_) {
    reply(session, {});
    if (is_last_of_lane(session.head.bucket)) update_clipped(session);
  } else {
    reply(session, options_.returns_gradients ? stripe.sum : shard_->weights(stripe.floats));
  }
}

// Works in pieces that stay in cache: makes the tree's additions for a piece, then uses its sum.
void ServerSessions::add_up(Stripe& stripe, const Session& session) {
  std::vector<float*> partials;
  for (const auto& held : stripe.held) partials.insert(partials.end(), held.begin(), held.end());
  base::check(!partials.empty(), "nobody sent anything of step {}", session.head.step);
  std::vector<comm::ExactPlan::Addition> additions;
  int result = 0;
  if (begin_.is_exact != 0) {
    std::vector<base::Range> shares;
    for (const std::int64_t end : session.ends) shares.push_back({shares.empty() ? 0 : shares.back().end, end});
    const std::lock_guard lock(plans_mutex_);
    const comm::ExactPlan& plan = plans_.get(begin_.oars, session.head.samples, shares);
    base::check(plan.partials().size() == partials.size(), "step {} has {} partials, {} came", session.head.step,
                plan.partials().size(), partials.size());
    additions = plan.additions();
    result = plan.result();
  } else {
    for (int p = 1; p < static_cast<int>(partials.size()); ++p) additions.push_back({0, p});
  }
  const auto sum = [&](std::int64_t from, std::int64_t count) -> const float* {
    for (const auto& [into, other] : additions)
      base::add_into(partials[at(into)] + from, partials[at(other)] + from, count);
    return partials[at(result)] + from;
  };
  const std::int64_t floats = stripe.floats.size();
  if (options_.returns_gradients) {
    for (std::int64_t from = 0; from < floats; from += kPieceFloats) {
      const std::int64_t count = std::min(kPieceFloats, floats - from);
      std::memcpy(stripe.sum.data() + from, sum(from, count), at(count) * sizeof(float));
    }
    return;
  }
  if (stripe.is_statistics()) return shard_->move_statistics(sum(0, floats), session.head.samples, 1);
  const optim::StepScalars now = scalars(session.head, 1);
  for (std::int64_t c = stripe.chunks.begin; c < stripe.chunks.end; ++c) {
    const ShardChunk& chunk = shard_->chunk(c);
    const std::int64_t from = chunk.offset - stripe.floats.begin;
    const float* gradient = sum(from, chunk.count);
    if (!clips_) {
      shard_->update(chunk, gradient, now);
      continue;
    }
    squares_[at(c - shard_->map().first_chunk)] = optim::sum_of_squares({gradient, at(chunk.count)});
    std::memcpy(stripe.sum.data() + from, gradient, at(chunk.count) * sizeof(float));
  }
}

// Called after all buckets of this lane are added. The session of the last lane of the last worker computes the norm.
void ServerSessions::update_clipped(Session& session) {
  double factor = 1;
  {
    std::unique_lock lock(norm_mutex_);
    if (++norm_arrived_ == workers() * lanes_in_use_) {
      factor_ = clip_over_servers(mailbox_, roles_, server_, shard_->map().chunks_of, squares_, max_norm_, failed_);
      norm_arrived_ = 0;
      ++norm_steps_;
      norm_known_.notify_all();
    } else {
      wait(lock, norm_known_, [&, steps = norm_steps_] { return norm_steps_ != steps; });
    }
    factor = factor_;
  }
  const optim::StepScalars now = scalars(session.head, factor);
  for (std::size_t b = at(session.lane); b < stripes_.size(); b += kLanes) {
    Stripe& stripe = *stripes_[b];
    {
      const std::lock_guard lock(stripe.mutex);
      if (stripe.updates != stripe.steps)
        for (std::int64_t c = stripe.chunks.begin; c < stripe.chunks.end; ++c) {
          const ShardChunk& chunk = shard_->chunk(c);
          shard_->update(chunk, stripe.sum.data() + (chunk.offset - stripe.floats.begin), now);
        }
      stripe.updates = stripe.steps;
    }
    reply(session, shard_->weights(stripe.floats));
  }
}

void ServerSessions::take_at_once(Session& session) {
  base::check(session.head.partials == 1, "worker {} has {} partials, expected 1", session.worker,
              session.head.partials);
  Stripe& stripe = *stripes_[at(session.head.bucket)];
  const std::span<float> gradient = session.partials[0];
  const optim::StepScalars now = scalars(session.head, session.head.clip);
  {
    const std::lock_guard lock(stripe.mutex);
    // Copies the weights, because other workers may push while the reply travels. The reply may overlap the gradient,
    // so each chunk is copied after its update.
    const auto copy_weights = [&](base::Range floats) {
      std::ranges::copy(shard_->weights(floats), session.reply.begin() + (floats.begin - stripe.floats.begin));
    };
    if (stripe.is_statistics()) {
      shard_->move_statistics(gradient.data(), session.head.samples, 1.0 / workers());
      copy_weights(stripe.floats);
    }
    for (std::int64_t c = stripe.chunks.begin; c < stripe.chunks.end; ++c) {
      const ShardChunk& chunk = shard_->chunk(c);
      shard_->update(chunk, gradient.data() + (chunk.offset - stripe.floats.begin), now);
      const bool is_last = c + 1 == stripe.chunks.end;
      copy_weights({chunk.offset, is_last ? stripe.floats.end : shard_->chunk(c + 1).offset});
    }
  }
  reply(session, session.reply);
}

}  // namespace trireme::strategy
