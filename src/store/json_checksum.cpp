#include "store/json_checksum.h"

#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/hash.h"

namespace trireme::store {
namespace {

using Json = nlohmann::json;

std::string digest_without_checksum(Json object) {
  object.erase(kChecksum);
  const std::string text = object.dump(-1, ' ', false, Json::error_handler_t::replace);
  return base::sha256_hex(std::as_bytes(std::span(text)));
}

}  // namespace

std::string json_checksum(std::string_view object) {
  const Json json = Json::parse(object, nullptr, false);
  base::check(json.is_object(), "the checksum of what is no JSON object: {:.64}", object);
  return digest_without_checksum(json);
}

bool json_checksum_agrees(std::string_view object) {
  const Json json = Json::parse(object, nullptr, false);
  if (!json.is_object()) return false;
  const auto said = json.find(kChecksum);
  return said == json.end() || *said == digest_without_checksum(json);
}

}  // namespace trireme::store
