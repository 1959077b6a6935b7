// StrategyConfig: a strategy with its options for given workers: its traits and the factories of both its sides.
// Immutable and thread-safe, like StrategyRow: the strategy's row in the registry, which makes the configuration.
//
// Adding a strategy: its file with a row, and one line in strategy/builtin_strategies.cpp.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/text/registry.h"
#include "base/text/spec_option.h"
#include "base/text/text.h"
#include "strategy/common/state_map.h"
#include "strategy/common/strategy.h"
#include "strategy/server/server.h"
#include "strategy/server/share_rules.h"

namespace trireme::strategy {

// Who holds the newest weights and the optimizer's state between two intervals of steps: every worker a full copy, or
// each server its shard.
enum class StateOwner : std::uint8_t { workers, servers };

struct Traits {
  // All workers make the same steps together; otherwise each share of a batch goes to the next pusher that asks
  // (ShareRules).
  bool is_synchronous = true;
  bool needs_servers = false;
  StateOwner state_owner = StateOwner::workers;
  // The other workers can go on when a worker fails.
  bool outlives_workers = false;
  bool is_for_one_worker = false;
  // It can add along the oar tree, as --reduce exact requires.
  bool adds_exactly = true;
  // Workers add each other's partial gradients, so these should be in memory that the group shares.
  bool adds_among_workers = true;
  // The assignment of oars to workers changes the bits, so it must not depend on measured speed.
  bool holds_shares = false;

  friend bool operator==(const Traits&, const Traits&) = default;
};

class StrategyConfig {
 public:
  explicit StrategyConfig(const Traits& traits, ShareRules shares = {}) : traits_(traits), shares_(std::move(shares)) {}
  virtual ~StrategyConfig() = default;

  const Traits& traits() const { return traits_; }
  const ShareRules& shares() const { return shares_; }

  virtual std::unique_ptr<Strategy> make_worker_side(const WorkerContext& worker) const = 0;
  // Serves one interval of steps. REQUIRES: traits().needs_servers.
  virtual std::unique_ptr<ServerSide> make_server_side(Server& server) const;

  // Between intervals of this strategy: the parts of the state that this worker or server owns.
  virtual StateMap export_state(const WorkerContext& worker) const;
  virtual StateMap export_state(const Server& server) const;
  // Before the first interval of this strategy: moves the state from the owner of the previous strategy, `from`, to the
  // owner of this one. Every worker and every server calls it.
  virtual void import_state(const WorkerContext& worker, StateOwner from) const;
  virtual void import_state(Server& server, StateOwner from) const;

 private:
  Traits traits_;
  ShareRules shares_;
};
using StrategyConfigPtr = std::shared_ptr<const StrategyConfig>;

// The workers that a configuration is for.
struct WorkerSet {
  int workers = 1;                   // 0: not known yet
  std::vector<std::string> hosts{};  // of each worker; empty: not known yet
};

struct StrategyRow {
  std::string name;
  std::string summary;
  std::vector<base::SpecOption> options{};
  // Reads the options; mistakes are user errors.
  std::function<StrategyConfigPtr(base::Spec& spec, const WorkerSet& workers)> configure;

  bool has_option(const std::string& key) const;
};
using StrategyRegistry = base::RegistryOf<StrategyRow>;

// Reads the option "bucket", given in KB, and returns bytes; 0: the default size.
std::int64_t read_bucket_bytes(base::Spec& spec);

}  // namespace trireme::strategy
