// Converts any exception to an Error. Thread-safe.
#pragma once

#include <exception>

#include "base/error.h"

namespace trireme::base {

// An Error stays as it is. Lack of memory or threads becomes a run error with a hint. Everything else becomes an
// internal error.
Error error_of(const std::exception_ptr& exception);

}  // namespace trireme::base
