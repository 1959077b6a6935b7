// Rule of unity builds (cmake/unity.cmake): the anonymous namespaces of one folder's sources become one. Two functions
// of the same name there would become overloads of each other, and a call could silently reach the other one.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "structure/source_file.h"

namespace trireme::structure {

// The functions that a source defines in anonymous namespaces, in order, each once. Relies on clang-format: definitions
// at namespace scope begin at the first column.
std::vector<std::string> anonymous_functions(const SourceFile& file);

// One offence per function name that two sources of a folder, or of a part of `together`, define in anonymous
// namespaces.
Offences check_united_names(const std::vector<SourceFile>& files, const std::set<std::string>& together = {});

// The parts that CMakeLists.txt declares as TOGETHER.
std::set<std::string> parts_together(const std::string& cmake);

}  // namespace trireme::structure
