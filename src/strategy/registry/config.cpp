#include "strategy/registry/config.h"

#include <algorithm>

#include "base/error.h"
#include "strategy/server/hand_over.h"

namespace trireme::strategy {

std::unique_ptr<ServerSide> StrategyConfig::make_server_side(Server&) const {
  base::throw_error(base::ErrorKind::internal, "a strategy without a server side was asked for one");
}

StateMap StrategyConfig::export_state(const WorkerContext& worker) const {
  if (traits_.state_owner == StateOwner::servers) return {};
  return {{worker.roles.process_of_worker(worker.worker), {0, worker.replica.space().floats()}, worker.version}};
}

StateMap StrategyConfig::export_state(const Server& server) const {
  return traits_.state_owner == StateOwner::servers ? StateMap{server.holds()} : StateMap{};
}

void StrategyConfig::import_state(const WorkerContext& worker, StateOwner from) const {
  if (from == traits_.state_owner) return;
  if (from == StateOwner::workers)
    hand_to_servers(worker);
  else
    take_from_servers(worker);
}

void StrategyConfig::import_state(Server& server, StateOwner from) const {
  if (from == traits_.state_owner) return;
  if (from == StateOwner::workers)
    server.take_over();
  else
    server.give_back();
}

bool StrategyRow::has_option(const std::string& key) const {
  return std::ranges::find(options, key, &base::SpecOption::key) != options.end();
}

std::int64_t read_bucket_bytes(base::Spec& spec) {
  const std::int64_t kilobytes = spec.integer("bucket", 0);
  if (kilobytes < 0 || kilobytes > 1 << 20)
    base::user_error("--strategy: bucket is {} KB, expected 1 to 1048576 (0: the default)", kilobytes);
  return kilobytes << 10;
}

}  // namespace trireme::strategy
