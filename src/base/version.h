// The version of this program, as --version prints it and run.json records it. Thread-safe.
#pragma once

#include <string>
#include <string_view>

namespace trireme::base {

std::string_view version_number();   // "0.1.0"
std::string_view source_revision();  // "v0.1.0-3-g1234567", "1234567-dirty", or "unknown revision" outside a checkout
std::string version_text();          // "trireme 0.1.0 (1234567)"

}  // namespace trireme::base
