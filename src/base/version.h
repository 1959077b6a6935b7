// The version of this program: what --version prints and what run.json records.
#pragma once

#include <string>
#include <string_view>

namespace trireme::base {

std::string_view version_number();   // "0.2.0"; "0.2.0+5.gabcdef" five commits after the tag v0.2.0
std::string_view source_revision();  // "v0.2.0-5-gabcdef", "1234567-dirty", or "unknown revision"
std::string_view source_date();      // of the commit, "2026-01-31"; empty where the revision is unknown
std::string version_text();          // "trireme 0.2.0 (v0.2.0)"

}  // namespace trireme::base
