// ServerSessions: serves one interval of a server, with one session per worker and lane (see server_protocol.h).
// run() has one caller and runs each session in a thread of its own; last_step() is thread-safe.
//
// Synchronous: each session receives its worker's partials of a bucket. The session of the last worker adds all
// partials along the oar tree and makes the update; then all sessions reply. With clipping, buckets are first only
// added and acknowledged. When all buckets of all servers are added, the norm is known; then the update is made and all
// buckets of a lane are sent back together. Asynchronous: each push is applied at once and answered with the weights
// after it. A slow worker delays nobody.
#pragma once

#include <atomic>
#include <condition_variable>
#include <exception>
#include <memory>
#include <mutex>
#include <vector>

#include "strategy/common/reduction_plans.h"
#include "strategy/server/server.h"
#include "strategy/server/server_protocol.h"

namespace trireme::strategy {

class ServerSessions : public ServerSide {
 public:
  // `shard` is null when the server returns sums of gradients.
  ServerSessions(comm::Group& group, const RoleMap& roles, int server, Shard* shard, double max_norm,
                 const ServeOptions& options);

  void run() override;
  std::int64_t last_step() const override { return last_step_.load(std::memory_order_relaxed); }

 private:
  struct Stripe {  // a bucket of this server
    base::Range floats, chunks;
    std::mutex mutex;  // guards all below, and the bucket's weights and optimizer state
    std::condition_variable changed;
    std::vector<std::vector<float*>> held;  // per worker that pushes: its partials
    int arrived = 0;                        // workers that have pushed in this step
    std::int64_t steps = 0, updates = 0;    // steps whose gradients were added; steps that were updated
    std::vector<float> sum;                 // the summed gradient, if it is returned or clipped
    bool is_statistics() const { return chunks.empty(); }
  };
  struct Session {
    int worker = 0, lane = 0;
    std::size_t place = 0;               // index of the worker among those that push
    observe::SpanLane* spans = nullptr;  // null: no trace
    RequestHead head{};
    std::int64_t received_ns = 0;               // when all of the request was there
    std::vector<std::int64_t> ends{};           // of the pushers' shares
    std::vector<comm::WindowAddress> places{};  // of the reply and the partials; empty: they travel as messages
    std::span<float> reply{};
    std::vector<std::span<float>> partials{};
    std::vector<std::vector<float>> memory{};  // for partials and reply that travel as messages
  };

  observe::SpanLane* span_lane(std::size_t place, int lane) const;
  void receive_beginnings();
  void run_session(Session& session) noexcept;
  void converse(Session& session);
  void receive_request(Session& session);
  void find_places(Session& session);
  void receive_partials(Session& session);
  void note_step(std::int64_t step);
  void record(const Session& session, observe::SpanKind kind, std::int64_t start_ns) const;
  int workers() const { return static_cast<int>(workers_.size()); }
  void reply(const Session& session, std::span<const float> floats);
  bool is_last_of_lane(int bucket) const { return bucket + kLanes >= static_cast<int>(stripes_.size()); }

  void take_synchronous(Session& session);
  void add_up(Stripe& stripe, const Session& session);
  void update_clipped(Session& session);
  void take_at_once(Session& session);
  optim::StepScalars scalars(const RequestHead& head, double clip) const;

  // Waits until is_done(), which other sessions bring about; throws when another session has failed.
  template <class Done>
  void wait(std::unique_lock<std::mutex>& lock, std::condition_variable& changed, const Done& is_done);

  comm::Group& group_;
  comm::Mailbox& mailbox_;
  RoleMap roles_;
  int server_;
  std::vector<int> workers_;  // the workers that push
  Shard* shard_;
  double max_norm_;
  ServeOptions options_;
  bool clips_;
  BeginHead begin_;
  std::vector<std::unique_ptr<Stripe>> stripes_;
  int lanes_in_use_ = 0;

  std::mutex plans_mutex_;
  ReductionPlans plans_;  // guarded by plans_mutex_

  std::vector<double> squares_;  // per chunk of this server: sum of squares; written under its stripe's mutex
  std::mutex norm_mutex_;        // guards what follows
  std::condition_variable norm_known_;
  int norm_arrived_ = 0;
  std::int64_t norm_steps_ = 0;
  double factor_ = 1;  // the clipping factor

  std::atomic<std::int64_t> last_step_{0};
  std::atomic<bool> failed_{false};
  std::mutex failure_mutex_;
  std::exception_ptr failure_;  // the first
};

}  // namespace trireme::strategy
