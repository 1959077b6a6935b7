// A checksum of a JSON object, stored in its member "checksum".
// Pure functions.
// It is the SHA-256 of all other members in compact form with sorted keys, so it depends on the object's content, not
// on its formatting.
#pragma once

#include <string>
#include <string_view>

namespace trireme::store {

inline constexpr const char* kChecksum = "checksum";

// The checksum of a JSON object; ignores a member "checksum" that it has already. REQUIRES: `object` is a JSON object.
std::string json_checksum(std::string_view object);

// Whether the object's checksum is right. True for an object without one (older versions wrote none); false for text
// that is not a JSON object.
[[nodiscard]] bool json_checksum_agrees(std::string_view object);

}  // namespace trireme::store
