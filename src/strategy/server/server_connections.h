// ServerConnections: a worker's side of its talk with the servers (see server_protocol.h): which bucket belongs to
// which of them, and the request threads that carry partials there and bring back what became of them.
#pragma once

#include <cstdint>
#include <vector>

#include "strategy/common/sync_step.h"
#include "strategy/server/ps_options.h"
#include "strategy/server/request_threads.h"

namespace trireme::strategy {

// Buckets that servers own; no bucket lies on two of them. bucket_bytes 0: the default. `workers` add their gradients;
// none given: all.
std::vector<Bucket> buckets_for_servers(const WorkerContext& worker, std::int64_t bucket_bytes,
                                        std::vector<int> workers = {});

class ServerConnections {
 public:
  // `step` holds the buckets, and the partials that are pushed; its first one takes sums that are returned. Weights
  // that are returned go to the crew. The partials of a bucket are of so many oars.
  ServerConnections(const WorkerContext& worker, const SyncStep& step, const PsOptions& options, int oars, bool exact);
  ServerConnections(const ServerConnections&) = delete;
  ServerConnections& operator=(const ServerConnections&) = delete;

  bool has_begun() const { return has_begun_; }
  void begin();  // an interval
  void end();

  // What the next pushes are of: step, samples, learning rate and partials of the head; the ends of all workers' shares
  // where they work in step.
  void set(const RequestHead& head, std::vector<std::int64_t> ends = {});
  void set_clip(double clip) { head_.clip = clip; }
  // Any thread.
  void push(std::size_t bucket) { give(RequestKind::push, bucket); }
  void pull(std::size_t bucket) { give(RequestKind::pull, bucket); }
  // Returns when what was given is done; throws the first failure.
  void wait(std::size_t bucket) { request_threads_.wait(bucket); }
  void wait_all() { request_threads_.wait_all(); }
  double take_busy_seconds() { return request_threads_.take_busy_seconds(); }

 private:
  struct BucketOwner {
    int server = 0, number = 0;  // and which of the server's buckets
  };

  int process_of(int server) const { return worker_.roles.process_of_server(server); }
  void give(RequestKind request, std::size_t bucket);
  void run(const QueuedRequest& queued, const std::atomic<bool>& stop);
  std::span<float> target_of(std::size_t bucket) const;
  std::vector<comm::WindowAddress> places_of(std::size_t bucket, std::int32_t partials) const;

  WorkerContext worker_;
  const SyncStep& step_;
  PsOptions options_;
  int oars_;
  bool exact_;
  bool replies_late_;
  std::vector<BucketOwner> owners_;                  // per bucket
  std::vector<std::vector<std::size_t>> of_server_;  // buckets
  bool has_begun_ = false;
  RequestHead head_;
  std::vector<std::int64_t> ends_;
  RequestThreads request_threads_;  // last: its threads use the rest
};

}  // namespace trireme::strategy
