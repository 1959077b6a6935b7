// Whom --peer names.
#pragma once

#include <string>

#include "base/text/options.h"
#include "peer/script.h"

namespace trireme::bench {

struct Peer {
  std::string python, script;  // empty: nobody
};

// What --peer names, which must be `known`, runs for a measurement: a script of PyTorch's.
Peer find_peer(const base::Settings& settings, const std::string& known, const std::string& script);
// The same of any system.
Peer find_peer(const base::Settings& settings, const peer::System& system, const std::string& script);

// A user error for a model of a user's own program, which no other system has.
void check_has_counterpart(const std::string& model, const peer::System& system);

}  // namespace trireme::bench
