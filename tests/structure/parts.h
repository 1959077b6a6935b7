// Rules of parts: which part may include which, and that each library is linked with what it includes.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "structure/source_file.h"

namespace trireme::structure {

// Part -> the parts its arrow names.
using Arrows = std::map<std::string, std::set<std::string>>;

// The arrows of the design.
const Arrows& design_arrows();
// All parts a part may include: itself and everything its arrows reach.
std::set<std::string> reachable(const Arrows& arrows, const std::string& part);
// The arrows that CMakeLists.txt declares: trireme_part(NAME DEPENDS ... LINK ...).
Arrows cmake_arrows(std::string_view cmake_lists);
// The parts that each part of src includes.
Arrows included_parts(const std::vector<SourceFile>& files);

// A file of src/PART includes only what its part may: quoted includes are "part/file.h" of a reachable part, `exists`
// says which of them there are.
Offences check_includes(const SourceFile& file, const Arrows& arrows, const std::set<std::string>& existing);
// A library is linked with exactly the parts whose headers it includes. One that it does not include is a dependency
// that nobody needs. One that it reaches through another part alone is lost when that part stops to include it.
Offences check_links(const Arrows& linked, const Arrows& included);

}  // namespace trireme::structure
