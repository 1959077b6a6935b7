// Finds the peer that --peer names.
#pragma once

#include <string>

#include "base/text/options.h"
#include "peer/script.h"

namespace trireme::bench {

struct Peer {
  std::string python, script;  // empty: no peer
};

// The PyTorch interpreter and script for a measurement. A --peer other than `known` is a user error; empty: no peer.
Peer find_peer(const base::Settings& settings, const std::string& known, const std::string& script);
// The same for `system`, regardless of --peer.
Peer find_peer(const base::Settings& settings, const peer::System& system, const std::string& script);

// A user error for a model of a user's own program, which no other system has.
void check_has_counterpart(const std::string& model, const peer::System& system);

}  // namespace trireme::bench
