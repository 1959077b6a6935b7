#include "strategy/server/global_norm.h"

#include <cmath>

#include "optim/clip.h"
#include "strategy/server/server_protocol.h"

namespace trireme::strategy {

double clip_over_servers(comm::Mailbox& mailbox, const RoleMap& roles, int server,
                         const std::vector<std::int64_t>& chunks_of, std::span<const double> squares, double max_norm,
                         const std::atomic<bool>& stop) {
  if (squares.empty()) return 1;
  int first = 0;
  while (chunks_of[static_cast<std::size_t>(first)] == 0) ++first;
  if (server != first) {
    const int asks = roles.process_of_server(first);
    receive_one<std::int64_t>(mailbox, asks, kNormAskTag, stop);
    send_array(mailbox, asks, kNormTag, squares);
    return receive_one<double>(mailbox, asks, kClipTag, stop);
  }
  std::vector<double> all(squares.begin(), squares.end());
  const auto for_others = [&](const auto& f) {
    for (int other = first + 1; other < roles.servers; ++other)
      if (const auto chunks = static_cast<std::size_t>(chunks_of[static_cast<std::size_t>(other)]); chunks > 0)
        f(roles.process_of_server(other), chunks);
  };
  for_others([&](int other, std::size_t chunks) {
    send_one(mailbox, other, kNormAskTag, std::int64_t{0});
    all.resize(all.size() + chunks);
    receive_array<double>(mailbox, other, kNormTag, std::span(all).last(chunks), stop);
  });
  const double factor = optim::clip_factor(std::sqrt(optim::tree_sum(all)), max_norm);
  for_others([&](int other, std::size_t) { send_one(mailbox, other, kClipTag, factor); });
  return factor;
}

}  // namespace trireme::strategy
