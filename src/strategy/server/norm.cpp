#include "strategy/server/norm.h"

#include <cmath>

#include "optim/clip.h"
#include "strategy/server/wire.h"

namespace trireme::strategy {

double clip_over_servers(comm::Mailbox& post, const RoleMap& cast, int server,
                         const std::vector<std::int64_t>& chunks_of, std::span<const double> squares, double max_norm,
                         const std::atomic<bool>& stop) {
  if (squares.empty()) return 1;
  int first = 0;
  while (chunks_of[static_cast<std::size_t>(first)] == 0) ++first;
  if (server != first) {
    const int asks = cast.process_of_server(first);
    receive_one<std::int64_t>(post, asks, kNormAskTag, stop);
    send_array(post, asks, kNormTag, squares);
    return receive_one<double>(post, asks, kClipTag, stop);
  }
  std::vector<double> all(squares.begin(), squares.end());
  const auto for_others = [&](const auto& f) {
    for (int other = first + 1; other < cast.servers; ++other)
      if (const auto chunks = static_cast<std::size_t>(chunks_of[static_cast<std::size_t>(other)]); chunks > 0)
        f(cast.process_of_server(other), chunks);
  };
  for_others([&](int other, std::size_t chunks) {
    send_one(post, other, kNormAskTag, std::int64_t{0});
    all.resize(all.size() + chunks);
    receive_array<double>(post, other, kNormTag, std::span(all).last(chunks), stop);
  });
  const double factor = optim::clip_factor(std::sqrt(optim::tree_sum(all)), max_norm);
  for_others([&](int other, std::size_t) { send_one(post, other, kClipTag, factor); });
  return factor;
}

}  // namespace trireme::strategy
