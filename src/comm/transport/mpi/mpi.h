// The transport `mpi`: a group of the processes that mpirun started, for networks that only MPI can use.
// One caller per process.
// Rank and world are MPI's. A rank that ends without leaving its group (by an exception, exit() or a signal) ends the
// whole job: these groups cannot form again.
#pragma once

#include <string>
#include <vector>

#include "comm/transport/transport.h"

namespace trireme::comm {

struct MpiOptions {
  std::string module;               // file of the module; empty: the one built or installed with this program
  std::string program = "trireme";  // equal on all ranks
  double deadline_seconds = 60;     // how long a wait may last without progress
};

// Can be called once per process; without mpirun the world is 1. The group's destructor waits for those of the other
// ranks. A missing module or a broken MPI is a user error.
Group join_mpi(const MpiOptions& options = {});

// The path of the module; a user error if it is missing.
std::string find_mpi_module();

Transport mpi_transport();

// The launcher that starts the processes of this transport.
RequiredLauncher mpirun();
// The command that starts `world` processes on this host, bound to cores as mpirun does by default; append the command
// of the program.
std::vector<std::string> mpirun_command(int world);

}  // namespace trireme::comm
