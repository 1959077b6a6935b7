#include "store/checkpoint_state.h"

#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/text/text.h"
#include "store/json_checksum.h"

namespace trireme::store {
namespace {

using Json = nlohmann::json;
constexpr int kFormat = 1;

std::int64_t read_count(const Json& json, const char* key) {
  const Json& value = json.at(key);
  if (!value.is_number_integer() || value.get<std::int64_t>() < 0)
    throw std::invalid_argument(std::string(key) + " is not a count");
  return value.get<std::int64_t>();
}

}  // namespace

std::string state_text(const SavedProgress& progress, const Digests& digests) {
  Json json = {{"format", kFormat},       {"step", progress.step},
               {"epoch", progress.epoch}, {"position", progress.position},
               {"extra", Json::object()}, {"sha256", digests}};
  for (const auto& [name, text] : progress.extra) {
    Json value = Json::parse(text, nullptr, false);
    base::check(!value.is_discarded(), "the state '{}' of a checkpoint is not JSON: {}", name, text);
    json["extra"][name] = std::move(value);
  }
  json[kChecksum] = json_checksum(json.dump());
  return json.dump(2) + "\n";
}

SavedProgress read_state(const std::string& text, const std::string& checkpoint, Digests& digests) {
  try {
    const Json json = Json::parse(text);
    if (!json_checksum_agrees(text))
      base::user_error("checkpoint {} is damaged: its state.json was changed since it was written", checkpoint);
    if (const std::int64_t format = read_count(json, "format"); format != kFormat)
      base::user_error("checkpoint {} has format {}, this program reads {}; use the version that wrote it", checkpoint,
                       format, kFormat);
    SavedProgress progress;
    progress.step = read_count(json, "step");
    progress.epoch = read_count(json, "epoch");
    progress.position = read_count(json, "position");
    for (const auto& [name, value] : json.at("extra").items()) progress.extra[name] = value.dump();
    digests = json.at("sha256").get<Digests>();
    return progress;
  } catch (const base::Error&) {
    throw;
  } catch (const std::exception& error) {
    base::user_error("checkpoint {} is damaged: its state.json cannot be read ({})", checkpoint,
                     base::without_tag(error.what()));
  }
}

}  // namespace trireme::store
