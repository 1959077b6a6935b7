// A checksum inside a JSON object, in its member "checksum": the SHA-256 of all other members, compact and with sorted
// keys, so that only what the object says counts and not how it is laid out. Pure functions.
#pragma once

#include <string>
#include <string_view>

namespace trireme::store {

inline constexpr const char* kChecksum = "checksum";

// Of a JSON object; a checksum that it has already is left out.
std::string json_checksum(std::string_view object);

// Whether the object has the checksum it says. One without any, as older versions wrote it, is taken as it is; what is
// no JSON object has none that agrees.
[[nodiscard]] bool json_checksum_agrees(std::string_view object);

}  // namespace trireme::store
