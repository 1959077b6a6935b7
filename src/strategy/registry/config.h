// StrategyConfig: a strategy with its options, for a given set of workers: what it asks of the run, and the factories
// of its worker side and of its server side. StrategyRow: how the registry knows a strategy; it makes the
// configuration. Both are immutable once made and may be used from any thread.
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

// Who holds the newest weights and the optimizer's state between two intervals of steps: every worker all of it, or
// each server its shard.
enum class StateOwner : std::uint8_t { workers, servers };

struct Traits {
  // All workers make the same steps together; otherwise shares of batches go to whoever asks (ShareRules).
  bool is_synchronous = true;
  bool needs_servers = false;
  StateOwner state_owner = StateOwner::workers;
  // The other workers can go on when one is lost.
  bool outlives_workers = false;
  bool is_for_one_worker = false;
  // It adds along the oar tree, as --reduce exact promises.
  bool adds_exactly = true;
  // Workers add partial gradients to each other's: these lie in memory that the group shares.
  bool adds_among_workers = true;
  // Who computes which oars makes bits, so it must not follow from measured speed.
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
  // Of one interval of steps; only where the traits ask for servers.
  virtual std::unique_ptr<ServerSide> make_server_side(Server& server) const;

  // Between intervals of this strategy: the parts of the state that a worker, or a server, is an owner of.
  virtual StateMap export_state(const WorkerContext& worker) const;
  virtual StateMap export_state(const Server& server) const;
  // Before the first interval of this strategy: brings the state from where the strategy before left it to where this
  // one wants it. Every worker and every server calls it.
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
  std::vector<std::string> hosts{};  // of each, when they are known
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

// The option "bucket", in KB, as bytes; 0: the default size.
std::int64_t read_bucket_bytes(base::Spec& spec);

}  // namespace trireme::strategy
