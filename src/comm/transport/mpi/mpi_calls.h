// MpiCalls: all that the transport `mpi` wants of MPI. It lies in a module of its own (src/comm/mpi), which is loaded
// when somebody asks for that transport, so that nothing else needs an MPI to be installed. All are called by one
// thread. A call that can fail returns a sentence, which holds until the next one; nullptr: all went well.
#pragma once

namespace trireme::comm {

inline constexpr int kMpiCallsVersion = 1;
inline constexpr const char* kMpiModule = "trireme_mpi.so";
inline constexpr const char* kMpiEntry = "trireme_mpi_calls";

struct MpiCalls {
  int version;
  // With so many slots for each rank of the job: slot s of rank r is s + r * slots. A slot holds one message at a time.
  const char* (*start)(int slots, int* rank, int* world);
  // Of each rank, a number that is equal for those of one host. Called by all ranks.
  const char* (*hosts)(int* of_rank);
  const char* (*send)(int slot, const void* bytes, int count, int to, int channel);
  const char* (*receive)(int slot, void* bytes, int most, int from, int channel);
  // Which slots' messages have ended, and how long received ones were; there is room for all slots.
  const char* (*test)(int* ended, int* slots, int* bytes);
  // Returns when all ranks have called it.
  const char* (*finish)();
  // Ends all ranks.
  void (*abort)(int code);
};
using MpiEntry = const MpiCalls* (*)();

}  // namespace trireme::comm
