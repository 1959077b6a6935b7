// MPI's own all-reduce, as one side of `trireme bench collective --peer mpi`. Started by mpirun; rank 0 answers one
// JSON object per line on standard output to one per line on standard input:
//
//     {"do": "join"}
//     {"do": "run", "bytes": 4096, "count": 10}    seconds per all-reduce of so many bytes of float32, of the slowest
//     rank
//
// Between two questions all ranks sleep, so that the other side has the cores.
#include <mpi.h>

#include <chrono>
#include <iostream>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <vector>

namespace {

struct Task {
  long long bytes = 0, count = 0;  // a count of -1 is the end
};

// From rank 0 to all; whoever waits for it sleeps.
void share(Task& task) {
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Ibcast(&task, sizeof task, MPI_BYTE, 0, MPI_COMM_WORLD, &request);
  for (int done = 0; done == 0;) {
    MPI_Test(&request, &done, MPI_STATUS_IGNORE);
    if (done == 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

double run(const Task& task) {
  std::vector<float> data(static_cast<std::size_t>(task.bytes) / sizeof(float));
  const auto all_reduce = [&] {
    MPI_Allreduce(MPI_IN_PLACE, data.data(), static_cast<int>(data.size()), MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
  };
  all_reduce();
  MPI_Barrier(MPI_COMM_WORLD);
  const double start = MPI_Wtime();
  for (long long i = 0; i < task.count; ++i) all_reduce();
  double seconds = (MPI_Wtime() - start) / static_cast<double>(task.count);
  MPI_Allreduce(MPI_IN_PLACE, &seconds, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  return seconds;
}

// Rank 0: asks, works with the others, answers.
void answer() {
  for (std::string line; std::getline(std::cin, line);) {
    const auto request = nlohmann::json::parse(line);
    nlohmann::json reply = nlohmann::json::object();
    if (request.at("do") == "run") {
      Task task{request.at("bytes"), request.at("count")};
      share(task);
      reply["seconds"] = run(task);
    }
    std::cout << reply << std::endl;
  }
  Task end{0, -1};
  share(end);
}

void follow() {
  for (Task task;;) {
    share(task);
    if (task.count < 0) return;
    run(task);
  }
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  rank == 0 ? answer() : follow();
  MPI_Finalize();
}
