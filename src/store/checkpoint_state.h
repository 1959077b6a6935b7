// state.json of a checkpoint: progress and the digests of the files beside it, to and from text. Inside store/ only.
#pragma once

#include <map>
#include <string>

#include "store/checkpoint.h"

namespace trireme::store {

using Digests = std::map<std::string, std::string>;  // file name -> SHA-256 in hexadecimal

std::string state_text(const SavedProgress& progress, const Digests& digests);
// Fills the digests; a user error that names the checkpoint when the text is not such a state.
SavedProgress read_state(const std::string& text, const std::string& checkpoint, Digests& digests);

}  // namespace trireme::store
