// Standard input, output and error: keeps a program alive whose terminal, pipe or descriptors are gone.
// Thread-safe, except keep_standard_descriptors() and outlive_terminal(), which change the whole process.
#pragma once

#include <cstdio>
#include <string_view>

namespace trireme::base {

// Takes descriptors 0 to 2 if they are closed (`trireme train >&-`), so that no file that is opened later receives what
// is printed. Reading and writing them still fails. Call it first.
void keep_standard_descriptors();

// From now on a closed terminal (SIGHUP) or pipe (SIGPIPE) does not end the process; writing fails instead.
void outlive_terminal();

// Prints "trireme: SENTENCE" or "note: SENTENCE" on standard error. If nobody can read it, that is no failure.
void print_error(std::string_view sentence);
void print_note(std::string_view sentence);

// Writes to a stream at once. A failure is a run error that names the stream; what it had buffered is dropped.
void print_text(std::FILE* stream, std::string_view text);

}  // namespace trireme::base
