// What a terminal takes. Thread-safe.
#pragma once

#include <cstdio>

namespace trireme::base {

// True for a terminal that takes escapes; not with TERM=dumb.
bool can_redraw(std::FILE* stream);
// The same, unless NO_COLOR is set.
bool may_colour(std::FILE* stream);

}  // namespace trireme::base
