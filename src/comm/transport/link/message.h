// Sends and receives messages, a header and its content, on a link. One caller per link at a time.
// A short message is sent in one piece. Each message is padded to 4 bytes, so that a float is never split at the end of
// a ring.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "comm/transport/link/link.h"

namespace trireme::comm {

constexpr std::size_t padded(std::size_t bytes) { return (bytes + 3) / 4 * 4; }
constexpr std::size_t message_bytes(std::size_t head, std::size_t content) { return head + padded(content); }

// Sends as much as the link takes of a message of which `sent` bytes are already sent; returns how many. `scratch` is a
// staging buffer for short messages.
std::size_t send_message(Link& link, std::span<const std::byte> head, std::span<const std::byte> content,
                         std::size_t sent, std::vector<std::byte>& scratch);

// Receives the padding at the end of a message; returns how many bytes arrived.
std::size_t receive_padding(Link& link, std::size_t count);

}  // namespace trireme::comm
