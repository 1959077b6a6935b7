// MpiCalls: the functions that the transport `mpi` needs from MPI, as a table.
// All are called by one thread.
// They are in a module of their own (module/module.cpp) that is loaded on demand, so only this transport needs an
// installed MPI. A call that can fail returns an error text, valid until the next call, or nullptr for success.
#pragma once

namespace trireme::comm {

inline constexpr int kMpiCallsVersion = 1;
inline constexpr const char* kMpiModule = "trireme_mpi.so";
inline constexpr const char* kMpiEntry = "trireme_mpi_calls";

struct MpiCalls {
  int version;
  // Each rank has `slots` slots. A slot holds one message in flight. Slot s of the link to rank r is s + r * slots.
  const char* (*start)(int slots, int* rank, int* world);
  // For each rank, a number that is equal for ranks of one host. Called by all ranks.
  const char* (*hosts)(int* of_rank);
  const char* (*send)(int slot, const void* bytes, int count, int to, int channel);
  const char* (*receive)(int slot, void* bytes, int most, int from, int channel);
  // The slots whose messages are complete, and the length of received ones. The arrays have room for all slots.
  const char* (*test)(int* ended, int* slots, int* bytes);
  // Returns when all ranks have called it.
  const char* (*finish)();
  // Ends all ranks.
  void (*abort)(int code);
};
using MpiEntry = const MpiCalls* (*)();

}  // namespace trireme::comm
