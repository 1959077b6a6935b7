// One type name, one meaning: no class, struct, union, enum or alias at namespace scope has the name of one in the
// headers of another part.
#pragma once

#include <string>
#include <vector>

#include "structure/source_file.h"

namespace trireme::structure {

// The types that a header defines at namespace scope; declarations without a body do not count.
std::vector<std::string> types_of(const SourceFile& header);

// One offence per name, with the headers that define it.
Offences check_type_names(const std::vector<SourceFile>& files);

}  // namespace trireme::structure
