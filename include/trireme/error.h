// Errors: one exception type. Program::run() prints the sentence and ends with the exit code; nothing else is printed.
// A sentence says what is wrong and where, what was expected, and what to do. Any thread may throw.
//
//   if (rate < 0) trireme::user_error("op swish: rate is {}, expected 0 or more", rate);
#pragma once

#include "base/error.h"

namespace trireme {

using base::Error;
using base::ErrorKind;

using base::check;       // an always-on check of what must hold; a failure is a bug
using base::run_error;   // something failed while running, exit code 1
using base::user_error;  // a wrong option, file or shape, exit code 2

}  // namespace trireme
