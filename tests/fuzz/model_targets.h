// Targets that read networks in files.
#pragma once

#include "fuzz/targets.h"

namespace trireme::fuzz {

void read_model_toml(std::span<const std::uint8_t> bytes);
std::vector<Bytes> model_toml_seeds();
void read_model_json(std::span<const std::uint8_t> bytes);
std::vector<Bytes> model_json_seeds();

}  // namespace trireme::fuzz
