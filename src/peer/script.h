// Another system as a peer: which Python has it, where our scripts for it lie, and a script that answers questions in
// JSON. A system is one folder of peers/.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "peer/answering_process.h"

namespace trireme::peer {

struct System {
  std::string name;     // of its folder, and of --peer
  std::string title;    // for people
  std::string module;   // what Python imports
  std::string install;  // how to get it
};
const System& pytorch();
// A wrong name is a user error of the option --peer.
const System& find_system(const std::string& name);

// What the user says about it; empty: nothing.
struct PeerLocation {
  std::string python;              // --python
  std::string environment_python;  // TRIREME_PYTHON
  std::string scripts;             // TRIREME_PEERS: the folder that holds the systems'
};

// The interpreter named by the user, else the first of python3 and /usr/bin/python3 that imports the module. A user
// error when there is none.
std::string find_python(const System& system, const PeerLocation& place);

// peers/<system>/<name>: in the named folder, else beside the source tree the program was built in, else where it is
// installed. A user error when there is none.
std::string find_script(const System& system, const std::string& name, const PeerLocation& place);

class Script {
 public:
  // Starts python on the script; `title` names it in errors; see AnsweringProcess for `cpus`. `environment`: NAME=VALUE
  // on top of this process's.
  Script(const std::string& title, const std::string& python, const std::string& script,
         const std::vector<std::string>& arguments, const std::vector<int>& cpus,
         const std::vector<std::string>& environment = {});
  // A JSON object there, one back. An answer {"error": "..."} and one that is no JSON object are run errors;
  // {"refused": "..."} is a user error.
  std::string ask(const std::string& json, double deadline_seconds);

 private:
  std::string title_;
  AnsweringProcess process_;
};

}  // namespace trireme::peer
