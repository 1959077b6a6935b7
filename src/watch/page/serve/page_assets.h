// The files of the page, part of the program: made by cmake/page_assets.cmake from src/watch/page/assets and Debian's
// Chart.js.
#pragma once

#include <span>
#include <string_view>

namespace trireme::watch {

struct PageAsset {
  std::string_view name;  // "index.html"
  std::string_view text;
};
std::span<const PageAsset> page_assets();

}  // namespace trireme::watch
