// state.json of a checkpoint: converts progress and the digests of the other files to and from text. Inside store/
// only.
// Pure functions.
#pragma once

#include <map>
#include <string>

#include "store/checkpoint.h"

namespace trireme::store {

using Digests = std::map<std::string, std::string>;  // file name -> SHA-256 in hexadecimal

std::string state_text(const SavedProgress& progress, const Digests& digests);
// Fills the digests. A user error that names the checkpoint if the text is not a valid state.
SavedProgress read_state(const std::string& text, const std::string& checkpoint, Digests& digests);

}  // namespace trireme::store
