// Rules of single files: what they include of other projects, what they call, how long they are. Each check takes the
// text of one file and returns one sentence per offence. Pure functions, so the rules themselves are tested.
#pragma once

#include "structure/source_file.h"

namespace trireme::structure {

// oneDNN and OpenMP only in src/ops/core/onednn*; JSON (but for its declarations), logging, options and
// TOML headers only in .cpp files.
Offences check_library_headers(const SourceFile& file);
// The environment is read in few places.
Offences check_environment(const SourceFile& file);
// No libm functions whose results depend on the CPU where training bits are made; references (in their file's name)
// compute in double and are free.
Offences check_libm(const SourceFile& file);
// No compiler flag that makes bits depend on the machine, in CMake files, presets and Makefile ('#' comments are free).
Offences check_build_flags(const SourceFile& file);
Offences check_length(const SourceFile& file);

inline constexpr int kLongestFile = 700;        // lines, of any file
inline constexpr int kLongestSourceFile = 400;  // lines, of a file of src without a written reason

}  // namespace trireme::structure
