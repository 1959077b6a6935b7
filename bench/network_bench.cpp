// An all-reduce between two hosts (network namespaces) at 1 Gbit/s and 0.2 ms, against a raw stream of the same bytes
// in one direction, in turns; and the processor time both take. Needs root.
//   network_bench [rounds] [bytes] [gigabits per second] [milliseconds]
#include <fmt/core.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <vector>

#include "base/system/clock.h"
#include "comm/membership/join.h"
#include "comm/network.h"
#include "comm/transport/link/link.h"

namespace {

using namespace trireme;
using namespace trireme::comm;

constexpr int kMeetingPort = 7777, kStreamPort = 7778;
constexpr double kDeadline = 60;

double cpu_seconds() {
  rusage use{};
  getrusage(RUSAGE_SELF, &use);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
  };
  return seconds(use.ru_utime) + seconds(use.ru_stime);
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[(values.size() - 1) / 2];
}

// Rank 0 sends, rank 1 takes and answers with one byte.
double stream(const Socket& socket, int rank, std::vector<float>& data) {
  const std::int64_t start = base::now_ns(), deadline = base::in_seconds(kDeadline);
  const auto bytes = std::as_writable_bytes(std::span(data));
  std::byte end{};
  if (rank == 0) {
    send_all(socket, bytes, deadline);
    receive_all(socket, std::span(&end, 1), deadline);
  } else {
    receive_all(socket, bytes, deadline);
    send_all(socket, std::span(&end, 1), deadline);
  }
  return base::seconds_since(start);
}

// Both ways at once.
double both_ways(const Socket& socket, std::vector<float>& data) {
  const std::int64_t start = base::now_ns();
  std::vector<std::byte> come(data.size() * sizeof(float));
  const auto bytes = std::as_bytes(std::span(data));
  std::size_t sent = 0, received = 0;
  while (sent < bytes.size() || received < come.size()) {
    std::size_t moved = 0;
    if (sent < bytes.size()) moved += send_some(socket, bytes.subspan(sent));
    sent += moved;
    if (received < come.size()) {
      const std::size_t got = receive_some(socket, std::span(come).subspan(received));
      received += got;
      moved += got;
    }
    if (moved > 0) continue;
    pollfd one{socket.descriptor(), static_cast<short>(POLLIN | (sent < bytes.size() ? POLLOUT : 0)), 0};
    poll(&one, 1, 1000);
  }
  return base::seconds_since(start);
}

void run(const Network& network, int rank, int rounds, std::size_t bytes) {
  network.enter(rank);
  JoinOptions options;
  options.address = {network.address(0), kMeetingPort};
  options.token = "bench";
  options.rank = rank;
  options.world = 2;
  Group group = join(options);
  Socket listener, socket;
  if (rank == 1) listener = listen_on({network.address(1), kStreamPort});
  group.barrier();
  if (rank == 0)
    socket = connect_to({network.address(1), kStreamPort}, base::in_seconds(kDeadline));
  else
    while (!socket.is_open()) socket = accept_now(listener);
  std::vector<float> data(bytes / sizeof(float), 1.0f);
  std::vector<double> streams, exchanges, reductions;
  double cpu = 0;
  for (int round = 0; round < rounds; ++round) {
    group.barrier();
    streams.push_back(stream(socket, rank, data));
    group.barrier();
    exchanges.push_back(both_ways(socket, data));
    group.barrier();
    const double cpu_before = cpu_seconds();
    const std::int64_t start = base::now_ns();
    group.all_reduce(data, Reduction::max);
    reductions.push_back(base::seconds_since(start));
    cpu += cpu_seconds() - cpu_before;
  }
  if (rank == 0)
    fmt::print(
        "raw stream {:.1f} ms, both ways {:.1f} ms, all-reduce {:.1f} ms, ratio {:.3f}; {:.2f} s of processor time per "
        "gigabyte\n",
        1e3 * median(streams), 1e3 * median(exchanges), 1e3 * median(reductions), median(reductions) / median(streams),
        cpu / rounds / (static_cast<double>(bytes) / 1e9));
  group.barrier();
}

}  // namespace

int main(int count, char** words) {
  if (const std::string why = Network::why_not(); !why.empty()) {
    fmt::print("left out: {}\n", why);
    return 0;
  }
  const auto number = [&](int index, double otherwise) {
    const double given = count > index ? std::atof(words[index]) : 0;
    return given > 0 ? given : otherwise;  // options are for the other benches
  };
  const Network network(2, {.bits_per_second = 1e9 * number(3, 1), .delay_seconds = 1e-3 * number(4, 0.2)});
  std::vector<pid_t> ranks;
  for (int rank = 0; rank < 2; ++rank) {
    ranks.push_back(fork());
    if (ranks.back() != 0) continue;
    try {
      run(network, rank, static_cast<int>(number(1, 7)), static_cast<std::size_t>(number(2, 44e6)));
    } catch (const std::exception& error) {
      fmt::print(stderr, "{}\n", error.what());
      _exit(1);
    }
    std::fflush(stdout);
    _exit(0);
  }
  int worst = 0;
  for (const pid_t rank : ranks) {
    int status = 0;
    waitpid(rank, &status, 0);
    worst |= status;
  }
  return worst == 0 ? 0 : 1;
}
