#include "strategy/server/server_connections.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "base/error.h"
#include "base/index.h"
#include "base/system/clock.h"

namespace trireme::strategy {
namespace {

using base::at;

constexpr int kRequestLane = 2000;  // of a worker in the trace; one for each server and lane

}  // namespace

std::vector<Bucket> buckets_for_servers(const WorkerContext& worker, std::int64_t bucket_bytes,
                                        std::vector<int> workers) {
  return cut_into_buckets(worker.replica, {.bytes = bucket_bytes > 0 ? bucket_bytes : kBucketBytes,
                                           .workers = workers.empty() ? worker.roles.all_workers() : std::move(workers),
                                           .servers = worker.roles.servers});
}

ServerConnections::ServerConnections(const WorkerContext& worker, const SyncStep& step, const PsOptions& options,
                                     int oars, bool exact)
    : worker_(worker),
      step_(step),
      options_(options),
      oars_(oars),
      exact_(exact),
      // The servers update after the norm of the whole gradient is known. Until then they only acknowledge each push.
      replies_late_(options.synchronous && !options.returns_gradients && worker.updater.clips()),
      of_server_(at(worker.roles.servers)),
      span_lanes_(at(worker.roles.servers * kLanes)),
      request_threads_(worker.roles.servers, step.buckets().size() + 1, worker.cpus,
                       [this](const QueuedRequest& queued, const std::atomic<bool>& stop) { run(queued, stop); }) {
  base::check(worker.roles.servers > 0, "there are no servers");
  base::check(options.synchronous || !options.returns_gradients, "only synchronous servers return gradients");
  for (std::size_t i = 0; worker.spans != nullptr && i < span_lanes_.size(); ++i)
    span_lanes_[i] = &worker.spans->lane(kRequestLane + static_cast<int>(i),
                                         fmt::format("requests to server {}, lane {}", i / kLanes, i % kLanes));
  for (std::size_t b = 0; b < step_.buckets().size(); ++b) {
    const int server = step_.buckets()[b].owner;
    base::check(server >= 0 && server < worker.roles.servers, "bucket {} is of server {}, of {}", b, server,
                worker.roles.servers);
    owners_.push_back({server, static_cast<int>(of_server_[at(server)].size())});
    of_server_[at(server)].push_back(b);
  }
}

void ServerConnections::begin() {
  for (int server = 0; server < worker_.roles.servers; ++server) {
    std::vector<WireBucket> buckets;
    for (const std::size_t b : of_server_[at(server)]) {
      const Bucket& bucket = step_.buckets()[b];
      buckets.push_back({bucket.floats, bucket.chunks, bucket.encoding});
    }
    BeginHead head;
    head.buckets = static_cast<std::int64_t>(buckets.size());
    head.oars = oars_;
    head.synchronous = options_.synchronous;
    head.returns_gradients = options_.returns_gradients;
    head.is_exact = exact_;
    head.clips = worker_.updater.clips();
    send_one(worker_.group.mailbox(), process_of(server), kBeginTag, head);
    send_array<WireBucket>(worker_.group.mailbox(), process_of(server), kBeginTag, buckets);
  }
  has_begun_ = true;
}

void ServerConnections::end() {
  for (int server = 0; server < worker_.roles.servers; ++server)
    for (int lane = 0; lane < kLanes; ++lane)
      request_threads_.give({RequestKind::end, server, lane, 0, step_.buckets().size()});
  request_threads_.wait_all();
  has_begun_ = false;
}

void ServerConnections::set(const RequestHead& head, std::vector<std::int64_t> ends) {
  head_ = head;
  ends_ = std::move(ends);
}

void ServerConnections::give(RequestKind request, std::size_t bucket) {
  const BucketOwner& owner = owners_[bucket];
  request_threads_.give({request, owner.server, owner.number % kLanes, owner.number, bucket});
}

// The memory to which the reply for a bucket is written.
std::span<float> ServerConnections::target_of(std::size_t bucket) const {
  const base::Range floats = step_.buckets()[bucket].floats;
  if (options_.returns_gradients) return step_.partial(0, floats);
  return {worker_.replica.weights() + floats.begin, at(floats.size())};
}

// The shared-memory addresses of the reply and the partials; empty unless the server can reach all of them.
std::vector<comm::WindowAddress> ServerConnections::places_of(std::size_t bucket, std::int32_t partials) const {
  if (replies_late_) return {};  // the weights of all buckets of a lane come after its last push
  const base::Range floats = step_.buckets()[bucket].floats;
  std::vector<comm::WindowAddress> places;
  const auto add = [&](std::span<const float> array) {
    const auto place = worker_.group.find(array);
    if (place) places.push_back(*place);
    return place.has_value();
  };
  bool all = !floats.empty() && add(target_of(bucket));
  for (std::size_t p = 0; p < at(partials); ++p) all = all && add(step_.partial(p, floats));
  return all ? places : std::vector<comm::WindowAddress>();
}

// Runs on a request thread.
void ServerConnections::run(const QueuedRequest& queued, const std::atomic<bool>& stop) {
  const std::int64_t start_ns = base::now_ns();
  std::int64_t sent_ns = start_ns;
  converse(queued, stop, sent_ns);
  if (queued.kind != RequestKind::end) record(queued, start_ns, sent_ns);
}

// A push is a span until all is sent, and one until the reply is there. The server records its part.
void ServerConnections::record(const QueuedRequest& queued, std::int64_t start_ns, std::int64_t sent_ns) const {
  observe::SpanLane* lane = span_lanes_[at(queued.server * kLanes + queued.lane)];
  if (lane == nullptr) return;
  const int process = process_of(queued.server);
  observe::Span span{
      .start_ns = start_ns,
      .end_ns = sent_ns,
      .step = queued.kind == RequestKind::push ? head_.step : 0,
      .arguments = {static_cast<double>(queued.mark), step_.spans().bytes(queued.mark), static_cast<double>(process)},
      .kind = observe::SpanKind::push,
      .detail = step_.spans().detail(queued.mark)};
  const auto arrow = [&](observe::SpanKind of, int from, int to) {
    return span.step == 0 ? 0 : observe::arrow_number(of, span.step, from, to, queued.bucket);
  };
  const int own = worker_.group.mailbox().rank();
  if (queued.kind == RequestKind::push) {
    span.arrow_out = arrow(observe::SpanKind::push, own, process);
    lane->add(span);
  }
  span.arrow_out = 0;
  span.arrow_in = arrow(observe::SpanKind::reply, process, own);
  span.start_ns = sent_ns;
  span.end_ns = base::now_ns();
  span.kind = observe::SpanKind::pull;
  lane->add(span);
}

void ServerConnections::converse(const QueuedRequest& queued, const std::atomic<bool>& stop, std::int64_t& sent_ns) {
  comm::Mailbox& mailbox = worker_.group.mailbox();
  const int to = process_of(queued.server);
  const auto lane = static_cast<comm::Tag>(queued.lane);
  const bool pushes = queued.kind == RequestKind::push;
  RequestHead head = head_;
  head.request = queued.kind;
  head.bucket = queued.bucket;
  if (!pushes) head.partials = 0;
  const bool is_end = queued.kind == RequestKind::end;
  const std::vector<comm::WindowAddress> places =
      is_end ? std::vector<comm::WindowAddress>() : places_of(queued.mark, head.partials);
  head.has_places = places.empty() ? 0 : 1;
  std::vector<std::byte> message;
  const auto append = [&](std::span<const std::byte> bytes) {
    message.insert(message.end(), bytes.begin(), bytes.end());
  };
  append(std::as_bytes(std::span(&head, 1)));
  if (pushes) append(std::as_bytes(std::span(ends_)));
  append(std::as_bytes(std::span(places)));
  mailbox.send(to, kPushTag + lane, message);
  if (is_end) return;
  const auto receive = [&](std::size_t bucket) {
    const std::span<float> target = target_of(bucket);
    receive_bytes(mailbox, to, kReplyTag + lane, std::as_writable_bytes(places.empty() ? target : std::span<float>()),
                  stop);
    if (!places.empty() && to != mailbox.rank())
      worker_.group.traffic().add(at(head.partials) * target.size_bytes(), target.size_bytes());
  };
  if (places.empty())
    for (std::size_t p = 0; p < at(head.partials); ++p)
      send_array<float>(mailbox, to, kPushTag + lane, step_.partial(p, step_.buckets()[queued.mark].floats));
  sent_ns = base::now_ns();
  if (!pushes || !replies_late_) return receive(queued.mark);
  receive_bytes(mailbox, to, kReplyTag + lane, {}, stop);
  const std::vector<std::size_t>& all = of_server_[at(queued.server)];
  if (at(queued.bucket) + kLanes < all.size()) return;
  for (std::size_t n = at(queued.lane); n < all.size(); n += kLanes) receive(all[n]);
}

}  // namespace trireme::strategy
