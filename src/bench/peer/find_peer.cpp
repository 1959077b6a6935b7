#include "bench/peer/find_peer.h"

#include <array>

#include "bench/environment.h"

namespace trireme::bench {

Peer find_peer(const base::Settings& settings, const std::string& known, const std::string& script) {
  if (settings.text("peer").empty()) return {};
  settings.check_choice("peer", std::array{known});
  return find_peer(settings, peer::pytorch(), script);
}

Peer find_peer(const base::Settings& settings, const peer::System& system, const std::string& script) {
  const peer::PeerLocation place{settings.text("python"), environment("TRIREME_PYTHON"), environment("TRIREME_PEERS")};
  return {peer::find_python(system, place), peer::find_script(system, script, place)};
}

}  // namespace trireme::bench
