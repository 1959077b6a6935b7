// What an exception means to the user. Pure.
#pragma once

#include <exception>

#include "base/error.h"

namespace trireme::base {

// An Error is itself; memory or threads that the system does not give are failures while running, with a hint; what
// nobody expects is an internal error.
Error error_of(const std::exception_ptr& exception);

}  // namespace trireme::base
