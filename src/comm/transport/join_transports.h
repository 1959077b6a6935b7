// The transports behind join(): processes meet at an address and communicate through shared memory or TCP.
#pragma once

#include "comm/transport/transport.h"

namespace trireme::comm {

Transport auto_transport();  // shared memory on one host, TCP between hosts
Transport shm_transport();   // the same, under the name that benchmarks on one host use
Transport tcp_transport();
Transport tls_transport();  // TCP, always encrypted; runs use --tls instead

}  // namespace trireme::comm
