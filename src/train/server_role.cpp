#include "train/server_role.h"

#include <array>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "train/mail.h"

namespace trireme::train {

using Json = nlohmann::json;

ServerRole::ServerRole(comm::Group& group, const strategy::Cast& cast, int server, std::vector<strategy::Phase> phases,
                       std::shared_ptr<const optim::Optimizer> optimizer, double max_norm)
    : group_(group), phases_(std::move(phases)), server_(group, cast, server, std::move(optimizer), max_norm) {}

void ServerRole::regroup(const strategy::Cast& cast, std::vector<strategy::Phase> phases) {
  phases_ = std::move(phases);
  server_.regroup(cast);
}

void ServerRole::follow_orders() {
  for (;;) {
    const Json order = Json::parse(receive_text(group_.post(), strategy::Cast::kHelm, kServerOrder));
    const std::string what = order.at("do");
    if (what == "row") {
      phase_ = order.at("phase");
      const strategy::Plan& plan = phases_[phase_].plan;
      server_.serve({plan.ps.synchronous, plan.ps.returns_gradients, plan.leaders()});
    } else if (what == "hand over") {
      if (order.at("to") == "servers") server_.take_over();
      if (order.at("to") == "workers") server_.give_back();
    } else if (what == "give state") {
      give_state();
    } else if (what == "traffic") {
      send_traffic(group_, strategy::Cast::kHelm);
    } else if (what == "end") {
      return;
    } else {
      base::check(false, "an order to {}", what);
    }
  }
}

void ServerRole::give_state() {
  comm::Post& post = group_.post();
  const int helm = strategy::Cast::kHelm;
  const base::Range floats = server_.floats(), trained = server_.state().floats();
  const std::array<std::int64_t, 4> ranges{floats.begin, floats.end, trained.begin, trained.end};
  send_values<std::int64_t>(post, helm, kState, ranges);
  send_values<float>(post, helm, kState, server_.weights());
  for (int s = 0; s < server_.state().slots(); ++s) send_values<float>(post, helm, kState, server_.state().slot(s));
}

}  // namespace trireme::train
