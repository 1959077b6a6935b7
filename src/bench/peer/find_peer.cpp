#include "bench/peer/find_peer.h"

#include <array>

#include "base/error.h"
#include "bench/environment.h"
#include "models/files/model_file.h"
#include "models/zoo.h"

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

void check_has_counterpart(const std::string& model, const peer::System& system) {
  if (models::is_model_file(model))
    base::user_error("{} is a file, and {}'s side of this knows the networks of the zoo only; name one of these", model,
                     system.title);
  if (!models::is_in_zoo(model))
    base::user_error("the model '{}' is this program's own and has no counterpart in {}; name a network of the zoo",
                     model, system.title);
}

}  // namespace trireme::bench
