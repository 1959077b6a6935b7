#include "comm/transport/mpi/mpi.h"

#include <dlfcn.h>
#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <exception>

#include "base/error.h"
#include "base/system/beside_program.h"
#include "comm/transport/mpi/mpi_progress_thread.h"

namespace trireme::comm {
namespace {

// The progress thread while this process is in its group, else null. Global, because MPI's state is per process.
std::atomic<MpiProgressThread*> present{nullptr};

// A process that ends without leaving its group ends the whole job; otherwise the other ranks would wait for it. An
// exception has been printed by then.
void end_job(int status, void*) {
  MpiProgressThread* progress_thread = present.load(std::memory_order_acquire);
  if (progress_thread == nullptr) return;
  fmt::print(stderr,
             "trireme: rank {} of {} (process {}) ends with exit code {} and did not leave its group, so all "
             "ranks of this MPI job end\n",
             progress_thread->rank(), progress_thread->world(), getpid(), status);
  progress_thread->end_all_ranks(status != 0 ? status : 1);
}

// Deletes the progress thread, which leaves the group, unless an exception is propagating: then this rank fails, and
// end_job() follows.
class Leave {
 public:
  void operator()(MpiProgressThread* progress_thread) const {
    if (std::uncaught_exceptions() > exceptions_) return;
    present.store(nullptr, std::memory_order_release);
    delete progress_thread;
  }

 private:
  int exceptions_ = std::uncaught_exceptions();
};

const MpiCalls& load(const std::string& path) {
  // Never closed. RTLD_GLOBAL, because MPI loads plugins that look up its symbols globally.
  void* module = dlopen(path.c_str(), RTLD_NOW | RTLD_GLOBAL);
  if (module == nullptr)
    base::user_error("the module {} cannot be loaded: {}; install Open MPI (Debian: openmpi-bin)", path, dlerror());
  const auto entry = reinterpret_cast<MpiEntry>(dlsym(module, kMpiEntry));
  if (entry == nullptr || entry()->version != kMpiCallsVersion)
    base::user_error("the module {} belongs to another version of Trireme; build or install both together", path);
  return *entry();
}

void expect_same_program(Group& group, const std::string& program) {
  std::array<char, 128> own{}, first{};
  std::copy_n(program.begin(), std::min(program.size(), own.size() - 1), own.begin());
  first = own;
  group.broadcast(std::as_writable_bytes(std::span(first)), 0);
  if (first != own)
    base::user_error("rank {} runs '{}', rank 0 runs '{}'; start the same program everywhere", group.rank(), own.data(),
                     first.data());
}

}  // namespace

std::string find_mpi_module() {
  std::string path = base::find_beside_program(kMpiModule);
  if (path.empty())
    base::user_error(
        "this build of Trireme has no transport mpi (its module {} is missing); install Open MPI (Debian: "
        "libopenmpi-dev and openmpi-bin) and build again",
        kMpiModule);
  return path;
}

Group join_mpi(const MpiOptions& options) {
  if (present.load(std::memory_order_acquire) != nullptr)
    base::user_error("this process is in a group over MPI already, and there can be one only");
  const MpiCalls& mpi = load(options.module.empty() ? find_mpi_module() : options.module);
  const std::shared_ptr<MpiProgressThread> progress_thread(new MpiProgressThread(mpi, kLinkSets), Leave());
  present.store(progress_thread.get(), std::memory_order_release);
  on_exit(end_job, nullptr);
  const auto links_of = [&](int link_set) {
    return LinkSet{progress_thread->rank(),           progress_thread,          progress_thread->links(link_set),
                   progress_thread->wakeup(link_set), progress_thread->alarm(), progress_thread->hosts(),
                   options.deadline_seconds};
  };
  Group group(Mesh{links_of(0), links_of(1), links_of(2), nullptr});
  expect_same_program(group, options.program);
  return group;
}

Transport mpi_transport() {
  return {.name = "mpi",
          .summary = "what mpirun offers, for networks that only MPI reaches",
          .offered = {.bench_train = false},
          .launcher = mpirun(),
          .expect_installed = [] { find_mpi_module(); },
          .join =
              [](const JoinRequest& request) {
                MpiOptions options;
                options.program = request.program;
                options.deadline_seconds = request.deadline_seconds;
                return join_mpi(options);
              }};
}

RequiredLauncher mpirun() {
  return {.program = "mpirun", .title = "MPI", .package = "Open MPI (Debian: openmpi-bin)", .command = [](int world) {
            // A rank has several threads, and mpirun's default binding would put all of them on one core.
            std::vector<std::string> words = mpirun_command(world);
            words.insert(words.end(), {"--bind-to", "none"});
            return words;
          }};
}

std::vector<std::string> mpirun_command(int world) {
  // Allows more ranks than cores, and root (in a container).
  return {"env", "OMPI_ALLOW_RUN_AS_ROOT=1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1", "mpirun", "--oversubscribe",
          "-n",  std::to_string(world)};
}

}  // namespace trireme::comm
