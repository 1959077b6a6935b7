// PyTorch as a peer: which Python has it, where our scripts for it lie, and a script that answers questions in JSON.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "peer/child.h"

namespace trireme::peer {

// What the user says about it; empty: nothing.
struct PytorchPlace {
  std::string python;              // --python
  std::string environment_python;  // TRIREME_PYTHON
  std::string scripts;             // TRIREME_PEERS: the folder that holds pytorch/
};

// The interpreter named by the user, else the first of python3 and /usr/bin/python3 that imports torch. A user error
// when there is none.
std::string find_python(const PytorchPlace& place);

// peers/pytorch/<name>: in the named folder, else beside the source tree the program was built in, else where it is
// installed. A user error when there is none.
std::string find_script(const std::string& name, const PytorchPlace& place);

class Pytorch {
 public:
  // Starts python on the script; see Child for `cpus`.
  Pytorch(const std::string& python, const std::string& script, const std::vector<std::string>& arguments,
          const std::vector<int>& cpus);
  // A JSON object there, one back. An answer {"error": "..."} and one that is no JSON object are run errors.
  std::string ask(const std::string& json, double deadline_seconds);

 private:
  Child child_;
};

}  // namespace trireme::peer
