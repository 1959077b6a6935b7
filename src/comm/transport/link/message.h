// Message: a header and its content on a link. Short ones go in one piece; all begin on 4 bytes, so that floats never
// lie in two pieces of a ring.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "comm/transport/link/link.h"

namespace trireme::comm {

constexpr std::size_t padded(std::size_t bytes) { return (bytes + 3) / 4 * 4; }
constexpr std::size_t message_bytes(std::size_t head, std::size_t content) { return head + padded(content); }

// Sends what the link takes now of a message of which `sent` bytes are gone; returns how much. `scratch` is for short
// ones.
std::size_t send_message(Link& link, std::span<const std::byte> head, std::span<const std::byte> content,
                         std::size_t sent, std::vector<std::byte>& scratch);

// Takes the bytes that fill a message up; returns how many came.
std::size_t receive_padding(Link& link, std::size_t count);

}  // namespace trireme::comm
