// Another system as a peer: finds a Python interpreter that has it and our scripts for it, and runs a script that
// answers requests in JSON. Each system has a folder in peers/.
// Functions are thread-safe; a Script: one thread at a time.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "peer/answering_process.h"

namespace trireme::peer {

struct System {
  std::string name;     // of its folder, and for --peer
  std::string title;    // its name for people
  std::string module;   // the Python module to import
  std::string install;  // what to install
};
const System& pytorch();
// An unknown name is a user error of the option --peer.
const System& find_system(const std::string& name);

// Where the user says the peer is; empty: not specified.
struct PeerLocation {
  std::string python;              // --python
  std::string environment_python;  // TRIREME_PYTHON
  std::string scripts;             // TRIREME_PEERS: the folder with the systems' folders
};

// The interpreter that the user specified, else the first of python3 and /usr/bin/python3 that imports the module; none
// is a user error.
std::string find_python(const System& system, const PeerLocation& place);

// Path of peers/<system>/<name>: in the specified folder, else in the source tree above the program, else where it is
// installed. A missing script is a user error.
std::string find_script(const System& system, const std::string& name, const PeerLocation& place);

class Script {
 public:
  // Starts python with the script. `title` names it in errors; `cpus`: see AnsweringProcess; `environment`: NAME=VALUE,
  // added to this process's environment.
  Script(const std::string& title, const std::string& python, const std::string& script,
         const std::vector<std::string>& arguments, const std::vector<int>& cpus,
         const std::vector<std::string>& environment = {});
  // Sends one JSON object and returns the answer, a JSON object. An answer {"error": "..."} or one that is not a JSON
  // object is a run error; {"refused": "..."} is a user error.
  std::string ask(const std::string& json, double deadline_seconds);

 private:
  std::string title_;
  AnsweringProcess process_;
};

}  // namespace trireme::peer
