// Rules of rooms. A room is a folder of src; the top folder of a part is a room too.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "structure/source_file.h"

namespace trireme::structure {

// The rooms of each part form a graph without cycles, edges being what files include. An offence names the rooms of a
// cycle and, for each of its edges, a file and what it includes.
Offences check_room_cycles(const std::vector<SourceFile>& files);
// Rooms side by side that must not know each other: a convolution algorithm does not include another's files, a reader
// of one format not another's. What they share stands in a room below both.
Offences check_sibling_rooms(const SourceFile& file);
// No folder holds more than kLargestFolder files. `paths`: all files, as in SourceFile.
Offences check_folder_sizes(const std::set<std::string>& paths);

inline constexpr int kLargestFolder = 30;  // files

}  // namespace trireme::structure
