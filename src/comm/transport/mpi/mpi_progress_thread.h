// MpiProgressThread: the thread that carries bytes over MPI between the link sets of this process and of other ranks.
// Its public functions may be called from any thread; MPI is called by its thread only, from MPI_Init to MPI_Finalize.
// Link sets do not know of it: they write to rings, read from rings and sleep until they are woken, as if the peer were
// on the same host.
//
// MPI has no wakeup, so the progress thread polls. After something moved it polls without a pause for at most 50 us,
// and only while there are idle cores. Then it sleeps an eighth of the time since the last progress, 20 us to 5 ms, or
// until a link set wakes it.
#pragma once

#include <atomic>
#include <future>
#include <memory>
#include <thread>
#include <vector>

#include "comm/transport/link/failure_state.h"
#include "comm/transport/link/link.h"
#include "comm/transport/link_set/spin.h"
#include "comm/transport/mpi/mpi_calls.h"
#include "comm/transport/mpi/mpi_channel.h"
#include "comm/transport/shared_memory/mapped_memory.h"
#include "comm/transport/shared_memory/wakeup.h"
#include "comm/transport/tcp/socket.h"

namespace trireme::comm {

class MpiProgressThread {
 public:
  // Starts MPI with `link_sets` link sets; a user error if that fails.
  MpiProgressThread(const MpiCalls& mpi, int link_sets);
  // Sends what is still in the rings and ends MPI when all other ranks do, which may take as long as they work.
  ~MpiProgressThread();
  MpiProgressThread(const MpiProgressThread&) = delete;
  MpiProgressThread& operator=(const MpiProgressThread&) = delete;

  int rank() const { return rank_; }
  int world() const { return world_; }
  const std::vector<int>& hosts() const { return hosts_; }  // see LinkSet
  const std::shared_ptr<FailureState>& alarm() const { return alarm_; }
  // The links and the wakeup of a link set.
  std::vector<std::unique_ptr<Link>> links(int link_set) const;
  Wakeup wakeup(int link_set) const;

  // Ends all ranks of the job, this process too.
  void end_all_ranks(int exit_code);

 private:
  struct Rings {
    Ring out, in;
  };

  void run(std::promise<void> started);
  void start();
  void carry();
  bool move();  // whether anything moved
  bool take_ended();
  bool could_move() const;
  void sleep(std::int64_t nanoseconds);
  bool is_over() const;
  void notice_closed(int peer);
  Rings rings(int link_set, int peer) const;
  Wakeup own_wakeup() const { return wakeup(link_sets_); }

  const MpiCalls& mpi_;
  int link_sets_, rank_ = 0, world_ = 1;
  std::vector<int> hosts_;
  std::vector<Socket> wakeups_;           // one per link set, then the progress thread's own
  std::unique_ptr<MappedMemory> memory_;  // the wakeups' states, and two rings per link set and rank
  std::shared_ptr<FailureState> alarm_;
  std::vector<MpiChannel> lanes_;
  std::vector<int> lane_of_slot_, ended_slots_, ended_bytes_;
  SpinPermit spin_;
  bool is_closing_ = false;
  std::atomic<bool> stop_{false};
  std::atomic<int> abort_code_{0};  // 0: nobody asked for an abort
  std::thread thread_;
};

}  // namespace trireme::comm
