// The rules of the documentation that a program can check: links lead to files and headings that exist, files
// that are named exist, and lines are short. Pure functions of the pages' text, as in rules.h.
#pragma once

#include <functional>
#include <set>
#include <string>
#include <string_view>

#include "structure/rules.h"

namespace trireme::structure {

// The anchors of a page's headings as GitHub makes them: "## A *step*, twice" is "a-step-twice".
std::set<std::string> anchors_of(std::string_view markdown);
// Relative links of a page. `text_of` gives the text of a file or folder of the repository (empty for a folder or a
// binary file), nullptr when there is none.
using TextOf = std::function<const std::string*(const std::string& path)>;
Offences check_links(const SourceFile& page, const TextOf& text_of);
// Files and folders that a page names as code, `src/ops/core`, are there; not those of a pattern, `src/optim/NAME.cpp`.
Offences check_paths(const SourceFile& page, const TextOf& text_of);
// No line is longer than kLongestLine characters but in code blocks, in tables, and where a link's target makes it so.
Offences check_line_lengths(const SourceFile& page);

inline constexpr int kLongestLine = 120;

}  // namespace trireme::structure
