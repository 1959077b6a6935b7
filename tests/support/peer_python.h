// The Python that tests of the label `peer` need. `make test-peer` installs it and sets TRIREME_PEER_REQUIRED, which
// makes a missing one a failure; elsewhere such a test is skipped and says why.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "support/process.h"

namespace trireme::test {

// In a test or its SetUp: `return without_peer(why);`
inline void without_peer(const std::string& why) {
  if (std::getenv("TRIREME_PEER_REQUIRED") != nullptr) FAIL() << why;
  GTEST_SKIP() << why;
}

// The interpreter named by TRIREME_PYTHON, else the first of python3 and /usr/bin/python3 that imports the modules
// ("numpy, torch"); empty when there is none.
inline std::string find_python(const std::string& modules) {
  std::vector<std::string> candidates{"python3", "/usr/bin/python3"};
  if (const char* named = std::getenv("TRIREME_PYTHON")) candidates = {named};
  for (const std::string& python : candidates)
    if (run_process({python, "-c", "import " + modules}).exit_code == 0) return python;
  return "";
}

}  // namespace trireme::test
