// ServerConnections: a worker's connections to all servers: knows which server owns which bucket, and sends pushes and
// pulls through its request threads (see server_protocol.h).
// push() and pull() are thread-safe; the other functions have one caller at a time.
#pragma once

#include <cstdint>
#include <vector>

#include "strategy/common/sync_step.h"
#include "strategy/server/ps_options.h"
#include "strategy/server/request_threads.h"

namespace trireme::strategy {

// The buckets of a strategy with servers; each bucket has one owner. bucket_bytes 0: the default. `workers` are those
// whose gradients are added; empty: all.
std::vector<Bucket> buckets_for_servers(const WorkerContext& worker, std::int64_t bucket_bytes,
                                        std::vector<int> workers = {});

class ServerConnections {
 public:
  // Pushes the partials in `step`, bucket by bucket. Returned sums are written to its partial 0, returned weights to
  // the replica's weights. `oars`: of the tree along which partials are added. `exact`: add along that tree.
  ServerConnections(const WorkerContext& worker, const SyncStep& step, const PsOptions& options, int oars, bool exact);
  ServerConnections(const ServerConnections&) = delete;
  ServerConnections& operator=(const ServerConnections&) = delete;

  bool has_begun() const { return has_begun_; }
  void begin();  // an interval
  void end();

  // Describes the next pushes: step, samples, learning rate and number of partials are read from `head`. `ends`: the
  // ends of all pushers' shares of the oars, in synchronous steps only.
  void set(const RequestHead& head, std::vector<std::int64_t> ends = {});
  void set_clip(double clip) { head_.clip = clip; }
  void push(std::size_t bucket) { give(RequestKind::push, bucket); }
  void pull(std::size_t bucket) { give(RequestKind::pull, bucket); }
  // Returns when all pushes and pulls of the bucket so far are answered; throws the first failure.
  void wait(std::size_t bucket) { request_threads_.wait(bucket); }
  void wait_all() { request_threads_.wait_all(); }
  double take_busy_seconds() { return request_threads_.take_busy_seconds(); }

 private:
  struct BucketOwner {
    int server = 0, number = 0;  // `number`: index among the server's buckets
  };

  int process_of(int server) const { return worker_.roles.process_of_server(server); }
  void give(RequestKind request, std::size_t bucket);
  void run(const QueuedRequest& queued, const std::atomic<bool>& stop);
  void converse(const QueuedRequest& queued, const std::atomic<bool>& stop, std::int64_t& sent_ns);
  void record(const QueuedRequest& queued, std::int64_t start_ns, std::int64_t sent_ns) const;
  std::span<float> target_of(std::size_t bucket) const;
  std::vector<comm::WindowAddress> places_of(std::size_t bucket, std::int32_t partials) const;

  WorkerContext worker_;
  const SyncStep& step_;
  PsOptions options_;
  int oars_;
  bool exact_;
  bool replies_late_;                                // with clipping, weights come back after the last push of a lane
  std::vector<BucketOwner> owners_;                  // per bucket
  std::vector<std::vector<std::size_t>> of_server_;  // per server: its buckets
  bool has_begun_ = false;
  RequestHead head_;
  std::vector<std::int64_t> ends_;
  std::vector<observe::SpanLane*> span_lanes_;  // per request thread; null: no trace
  RequestThreads request_threads_;              // last: its threads use the other members
};

}  // namespace trireme::strategy
