// The rule of the public headers: what include/trireme needs of src is listed, so that it cannot grow unseen.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "structure/source_file.h"

namespace trireme::structure {

// The headers of src, as they are included, that those of include/trireme include, directly or through others.
std::set<std::string> headers_behind_public_ones(const std::vector<SourceFile>& files);

// The list (cmake/public_headers.txt) names exactly these. `files`: include and src.
Offences check_public_headers(const std::vector<SourceFile>& files, const std::string& list);
// A public header begins with a comment that has an example: a line indented by three spaces. Other files of src than
// the program itself do not include public headers.
Offences check_public_use(const SourceFile& file);

inline constexpr std::size_t kMostInternalHeaders = 40;

}  // namespace trireme::structure
