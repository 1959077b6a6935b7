// The transports behind join(): processes that meet at an address, and talk through shared memory or over TCP.
#pragma once

#include "comm/transport/transport.h"

namespace trireme::comm {

Transport auto_transport();  // shared memory on one host, TCP between hosts
Transport shm_transport();   // the same, as benchmarks on one host call it
Transport tcp_transport();
Transport tls_transport();  // TCP, always encrypted; in a run, --tls asks for that

}  // namespace trireme::comm
