#include "train/messages/orders.h"

#include <array>

namespace trireme::train {

std::string name_of(const Order& order) {
  static constexpr std::array kNames{"compute",        "evaluate",    "hand over",  "send state",   "receive state",
                                     "compare clocks", "acknowledge", "send spans", "send traffic", "end",
                                     "send updates"};
  static_assert(kNames.size() == std::variant_size_v<Order>);
  return kNames[order.index()];
}

}  // namespace trireme::train
