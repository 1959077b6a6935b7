// Targets for what comes from the network: from strangers, from ranks that went wrong, and from a host that is not what
// it says. The real code is on the other end of a local socket; the first byte of the input says how far the input's
// side follows the protocol before it sends the rest.
#pragma once

#include "fuzz/targets.h"

namespace trireme::fuzz {

// Frames in pieces of any size, and the messages in them.
void read_frames(std::span<const std::uint8_t> bytes);
std::vector<Bytes> frame_seeds();
// A guest at a listener: without a proof, with a wrong one, with a right one.
void visit_listener(std::span<const std::uint8_t> bytes);
std::vector<Bytes> listener_seeds();
// A guest with the token at an arbiter.
void visit_arbiter(std::span<const std::uint8_t> bytes);
std::vector<Bytes> arbiter_seeds();
// A host to which a rank comes: without a greeting, without an answer, with both.
void host_member(std::span<const std::uint8_t> bytes);
std::vector<Bytes> membership_seeds();
// Records of a link, some with codes, then bytes without.
void read_link(std::span<const std::uint8_t> bytes);
std::vector<Bytes> link_seeds();

}  // namespace trireme::fuzz
