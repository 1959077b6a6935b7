// ServerSessions: one interval of a server: a session for each worker and lane, each in a thread of its own (see
// server_protocol.h).
//
// Synchronous: a session keeps its worker's partials of a bucket; whoever brings the last ones adds them along the oar
// tree and makes the update; then all sessions reply. With clipping a bucket is only added and acknowledged; when all
// buckets of all servers are, the norm is known, the update is made, and all buckets of a lane are replied together.
// Otherwise: each push is applied at once, and replied with the weights as they are then; a slow worker holds up
// nobody.
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
  // No shard: sums of gradients go back.
  ServerSessions(comm::Group& group, const RoleMap& roles, int server, Shard* shard, double max_norm,
                 const ServeOptions& options);

  void run() override;
  std::int64_t last_step() const override { return last_step_.load(std::memory_order_relaxed); }

 private:
  struct Stripe {  // a bucket
    base::Range floats, chunks;
    std::mutex mutex;  // guards all below, and these weights and their state
    std::condition_variable changed;
    std::vector<std::vector<float*>> held;  // per worker that pushes: its partials
    int arrived = 0;                        // workers in this step
    std::int64_t steps = 0, updates = 0;    // that were added, and made
    std::vector<float> sum;                 // where it is kept
    bool is_statistics() const { return chunks.empty(); }
  };
  struct Session {
    int worker = 0, lane = 0;
    std::size_t place = 0;  // of the worker among those that push
    RequestHead head{};
    std::vector<std::int64_t> ends{};           // of the shares
    std::vector<comm::WindowAddress> places{};  // of the reply, and of the partials; none: they come as messages
    std::span<float> reply{};                   // at its place
    std::vector<std::span<float>> partials{};
    std::vector<std::vector<float>> memory{};  // of those that came as messages
  };

  void receive_beginnings();
  void run_session(Session& session) noexcept;
  void converse(Session& session);
  void receive_request(Session& session);
  void find_places(Session& session);
  void receive_partials(Session& session);
  void note_step(std::int64_t step);
  int workers() const { return static_cast<int>(workers_.size()); }
  void reply(const Session& session, std::span<const float> floats);
  bool is_last_of_lane(int bucket) const { return bucket + kLanes >= static_cast<int>(stripes_.size()); }

  void take_synchronous(Session& session);
  void add_up(Stripe& stripe, const Session& session);
  void update_clipped(Session& session);
  void take_at_once(Session& session);
  optim::StepScalars scalars(const RequestHead& head, double clip) const;

  // Waits until others have done something.
  template <class Done>
  void wait(std::unique_lock<std::mutex>& lock, std::condition_variable& changed, const Done& is_done);

  comm::Group& group_;
  comm::Mailbox& mailbox_;
  RoleMap roles_;
  int server_;
  std::vector<int> workers_;  // that push
  Shard* shard_;
  double max_norm_;
  ServeOptions options_;
  bool clips_;
  BeginHead begin_;
  std::vector<std::unique_ptr<Stripe>> stripes_;
  int lanes_in_use_ = 0;

  std::mutex plans_mutex_;
  ReductionPlans plans_;  // guarded by it

  std::vector<double> squares_;  // per chunk of this server; each written with its stripe
  std::mutex norm_mutex_;        // guards what follows
  std::condition_variable norm_known_;
  int norm_arrived_ = 0;
  std::int64_t norm_steps_ = 0;
  double factor_ = 1;

  std::atomic<std::int64_t> last_step_{0};
  std::atomic<bool> failed_{false};
  std::mutex failure_mutex_;
  std::exception_ptr failure_;  // the first
};

}  // namespace trireme::strategy
