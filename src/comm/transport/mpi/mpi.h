// The transport `mpi`: a group of the processes that mpirun started, for networks that only MPI reaches. Rank and world
// are MPI's. A rank that ends without leaving its group, by an exception, by exit() or by a signal, ends the whole job:
// these groups do not form again.
#pragma once

#include <string>
#include <vector>

#include "comm/transport/transport.h"

namespace trireme::comm {

struct MpiOptions {
  std::string module;               // the file behind it; empty: where it was built or installed with this program
  std::string program = "trireme";  // equal on all ranks
  double deadline_seconds = 60;     // of a collective in which nothing moves
};

// Once in a process; without mpirun the world is 1. The group's end waits for those of the other ranks. A missing
// module or an MPI that does not work is a user error.
Group join_mpi(const MpiOptions& options = {});

// Where the module lies; a user error when it is missing.
std::string find_mpi_module();

Transport mpi_transport();

// What starts the processes of this transport.
RequiredLauncher mpirun();
// The words that start `world` processes on this host, each bound to a core; the words of their program follow.
std::vector<std::string> mpirun_command(int world);

}  // namespace trireme::comm
