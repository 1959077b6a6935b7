#include "observe/process_resources.h"

#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

namespace trireme::observe {
namespace {

double seconds_of(const timeval& time) {
  return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
}

// The folder of a process's threads has a link for each of them, besides its own two.
double count_threads() {
  struct stat folder {};
  return ::stat("/proc/self/task", &folder) == 0 && folder.st_nlink > 2 ? static_cast<double>(folder.st_nlink) - 2
                                                                        : kNotTold;
}

}  // namespace

ProcessSampler::ProcessSampler() : memory_("/proc/self/statm"), disk_("/proc/self/io") {}

ProcessSample ProcessSampler::sample() {
  ProcessSample sample;
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  sample.cpu_user_seconds = seconds_of(usage.ru_utime);
  sample.cpu_system_seconds = seconds_of(usage.ru_stime);
  sample.voluntary_switches = static_cast<double>(usage.ru_nvcsw);
  sample.involuntary_switches = static_cast<double>(usage.ru_nivcsw);
  sample.minor_faults = static_cast<double>(usage.ru_minflt);
  sample.major_faults = static_cast<double>(usage.ru_majflt);
  sample.threads = count_threads();

  FieldScanner memory(memory_.read());
  const auto page = static_cast<double>(sysconf(_SC_PAGESIZE));
  memory.skip(1);
  sample.resident_bytes = page * memory.number();
  sample.shared_bytes = page * memory.number();

  sample.disk_read_bytes = sample.disk_written_bytes = kNotTold;
  for (FieldScanner disk(disk_.read()); !disk.is_at_end();) {
    const std::string_view name = disk.word();
    if (name == "read_bytes:")
      sample.disk_read_bytes = disk.number();
    else if (name == "write_bytes:")
      sample.disk_written_bytes = disk.number();
    else
      disk.skip(1);
  }
  return sample;
}

}  // namespace trireme::observe
