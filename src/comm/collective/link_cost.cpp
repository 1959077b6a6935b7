#include <algorithm>
#include <array>
#include <vector>

#include "base/system/clock.h"
#include "comm/collective/all_reduce.h"

namespace trireme::comm {
namespace {
constexpr std::size_t kLongMessage = std::size_t{128} << 10;
constexpr int kShortTries = 5, kLongTries = 3;
}  // namespace

LinkCost measure_link_cost(Subgroup& subgroup, const Operation& operation) {
  std::vector<std::byte> out(kLongMessage), in(kLongMessage);
  const int next = (subgroup.rank() + 1) % subgroup.world(),
            before = (subgroup.rank() + subgroup.world() - 1) % subgroup.world();
  const auto fastest = [&](std::size_t bytes, int tries) {
    double best = 0;
    for (int i = 0; i < tries; ++i) {
      const std::int64_t start = base::now_ns();
      subgroup.run(operation, std::array{send_to(next, std::span(out).first(bytes)),
                                         receive_from(before, std::span(in).first(bytes))});
      const double seconds = base::seconds_since(start);
      best = i == 0 ? seconds : std::min(best, seconds);
    }
    return best;
  };
  const double brief = fastest(sizeof(float), kShortTries), lengthy = fastest(kLongMessage, kLongTries);
  std::array<float, 2> slowest{static_cast<float>(brief),
                               static_cast<float>(std::max(lengthy - brief, 0.0) / kLongMessage)};
  whole_all_reduce(subgroup, operation, slowest, Combine::max);
  return {slowest[0], slowest[1]};
}

}  // namespace trireme::comm
