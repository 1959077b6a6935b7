#include "comm/builtin_transports.h"

#include "comm/transport/inproc.h"
#include "comm/transport/join_transports.h"
#include "comm/transport/mpi/mpi.h"

namespace trireme::comm {

// One line per transport.
Transports builtin_transports() {
  Transports all("transport");
  all.add(auto_transport());
  all.add(shm_transport());
  all.add(tcp_transport());
  all.add(tls_transport());
  all.add(mpi_transport());
  all.add(inproc_transport());
  return all;
}

std::vector<std::string> offered_names(const Transports& transports, bool Offers::*where) {
  std::vector<std::string> names;
  for (const Transport& transport : transports.rows())
    if (transport.offered.*where) names.push_back(transport.name);
  return names;
}

}  // namespace trireme::comm
