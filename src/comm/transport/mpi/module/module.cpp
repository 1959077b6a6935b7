// The module behind the transport `mpi`: the only file that calls MPI. One caller at a time.
#include <mpi.h>

#include <array>
#include <string>
#include <vector>

#include "comm/transport/mpi/mpi_calls.h"

namespace trireme::comm {
namespace {

std::vector<MPI_Request> requests;  // by slot
std::vector<MPI_Status> statuses;
std::string words;  // of the last error

const char* said(const std::string& sentence) {
  words = sentence;
  return words.c_str();
}

// The error text, or nullptr if there was no error.
const char* told(const char* call, int error) {
  if (error == MPI_SUCCESS) return nullptr;
  std::array<char, MPI_MAX_ERROR_STRING> text{};
  int length = 0;
  MPI_Error_string(error, text.data(), &length);
  return said(std::string(call) + ": " + text.data());
}

const char* start(int slots, int* rank, int* world) {
  int is_finished = 0, level = 0;
  MPI_Finalized(&is_finished);
  if (is_finished != 0) return said("this process has left its MPI job, and MPI starts only once in a process");
  if (const char* error = told("MPI_Init_thread", MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &level)))
    return error;
  if (level < MPI_THREAD_FUNNELED) {
    MPI_Finalize();
    return said(
        "this MPI was built without support for threads, which the transport mpi needs; Debian's Open MPI has it");
  }
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_rank(MPI_COMM_WORLD, rank);
  MPI_Comm_size(MPI_COMM_WORLD, world);
  const auto all = static_cast<std::size_t>(slots) * static_cast<std::size_t>(*world);
  requests.assign(all, MPI_REQUEST_NULL);
  statuses.resize(all);
  return nullptr;
}

const char* hosts(int* of_rank) {
  MPI_Comm here = MPI_COMM_NULL;
  int own = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &own);
  if (const char* error = told("MPI_Comm_split_type",
                               MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, own, MPI_INFO_NULL, &here)))
    return error;
  MPI_Bcast(&own, 1, MPI_INT, 0, here);  // the lowest rank of a host is the host's number
  MPI_Comm_free(&here);
  return told("MPI_Allgather", MPI_Allgather(&own, 1, MPI_INT, of_rank, 1, MPI_INT, MPI_COMM_WORLD));
}

const char* send(int slot, const void* bytes, int count, int to, int channel) {
  return told("MPI_Isend", MPI_Isend(bytes, count, MPI_BYTE, to, channel, MPI_COMM_WORLD,
                                     &requests[static_cast<std::size_t>(slot)]));
}

const char* receive(int slot, void* bytes, int most, int from, int channel) {
  return told("MPI_Irecv", MPI_Irecv(bytes, most, MPI_BYTE, from, channel, MPI_COMM_WORLD,
                                     &requests[static_cast<std::size_t>(slot)]));
}

const char* test(int* ended, int* slots, int* bytes) {
  const int error = MPI_Testsome(static_cast<int>(requests.size()), requests.data(), ended, slots, statuses.data());
  if (*ended == MPI_UNDEFINED) *ended = 0;  // no slot holds a message
  for (int i = 0; i < *ended; ++i) {
    const MPI_Status& status = statuses[static_cast<std::size_t>(i)];
    if (error == MPI_ERR_IN_STATUS && status.MPI_ERROR != MPI_SUCCESS) return told("a message", status.MPI_ERROR);
    MPI_Get_count(&status, MPI_BYTE, &bytes[i]);
  }
  return told("MPI_Testsome", error);
}

const char* finish() { return told("MPI_Finalize", MPI_Finalize()); }

void end_all(int code) { MPI_Abort(MPI_COMM_WORLD, code); }

constexpr MpiCalls kCalls{kMpiCallsVersion, start, hosts, send, receive, test, finish, end_all};

}  // namespace
}  // namespace trireme::comm

extern "C" const trireme::comm::MpiCalls* trireme_mpi_calls();  // kMpiEntry
const trireme::comm::MpiCalls* trireme_mpi_calls() { return &trireme::comm::kCalls; }
