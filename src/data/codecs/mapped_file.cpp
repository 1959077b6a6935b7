#include "data/codecs/mapped_file.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <mutex>
#include <string>
#include <utility>

#include "base/error.h"
#include "base/system/beside_program.h"

namespace trireme::data {
namespace {

// The mapped files, for the signal handler: a fixed table that is never freed, with prepared messages. A signal handler
// has no context argument, hence a global.
struct Watched {
  std::atomic<const std::byte*> begin{nullptr};
  std::atomic<std::size_t> size{0};
  std::array<char, 4096> message{};
};
std::array<Watched, 64> watched;
struct sigaction earlier {};

void on_bus_error(int signal, siginfo_t* info, void* context) {
  const auto* address = static_cast<const std::byte*>(info->si_addr);
  for (const Watched& file : watched) {
    const std::byte* begin = file.begin.load(std::memory_order_acquire);
    if (begin == nullptr || address < begin || address >= begin + file.size.load(std::memory_order_relaxed)) continue;
    [[maybe_unused]] const auto written = write(STDERR_FILENO, file.message.data(), std::strlen(file.message.data()));
    _exit(1);
  }
  if ((earlier.sa_flags & SA_SIGINFO) != 0 && earlier.sa_sigaction != nullptr)
    return earlier.sa_sigaction(signal, info, context);
  sigaction(signal, &earlier, nullptr);  // the faulting instruction runs again, now with the earlier handler
}

void install_handler_once() {
  static std::once_flag once;
  std::call_once(once, [] {
    struct sigaction action {};
    action.sa_sigaction = on_bus_error;
    action.sa_flags = SA_SIGINFO;
    sigemptyset(&action.sa_mask);
    sigaction(SIGBUS, &action, &earlier);
  });
}

// Returns the table index, or -1 if the table is full: then a bus error is not translated.
int watch(const std::byte* begin, std::size_t size, const std::string& path) {
  static std::mutex mutex;
  const std::lock_guard lock(mutex);
  for (std::size_t i = 0; i < watched.size(); ++i) {
    if (watched[i].begin.load(std::memory_order_relaxed) != nullptr) continue;
    const std::string message = base::program_name() + ": " + path +
                                " became shorter while it was read, or its disk failed; put the "
                                "whole file back, then go on with --resume\n";
    std::strncpy(watched[i].message.data(), message.c_str(), watched[i].message.size() - 1);
    watched[i].size.store(size, std::memory_order_relaxed);
    watched[i].begin.store(begin, std::memory_order_release);
    return static_cast<int>(i);
  }
  return -1;
}

// Closes a descriptor at the end of the scope; the mapping remains.
struct Descriptor {
  int number;
  ~Descriptor() {
    if (number >= 0) close(number);
  }
};

}  // namespace

MappedFile::MappedFile(std::filesystem::path path) : path_(std::move(path)) {
  const Descriptor file{open(path_.c_str(), O_RDONLY | O_CLOEXEC)};
  struct stat status {};
  if (file.number < 0 || fstat(file.number, &status) != 0)
    base::user_error("cannot read {}: {}", path_.string(), std::strerror(errno));
  if (!S_ISREG(status.st_mode)) base::user_error("{} is no regular file, so it cannot be mapped", path_.string());
  size_ = static_cast<std::size_t>(status.st_size);
  if (size_ == 0) base::user_error("{} is empty", path_.string());
  void* memory = mmap(nullptr, size_, PROT_READ, MAP_SHARED, file.number, 0);
  if (memory == MAP_FAILED)
    base::user_error("cannot map {} ({} bytes): {}", path_.string(), size_, std::strerror(errno));
  data_ = static_cast<const std::byte*>(memory);
  install_handler_once();
  watch_ = watch(data_, size_, path_.string());
}

MappedFile::~MappedFile() {
  if (watch_ >= 0) watched[static_cast<std::size_t>(watch_)].begin.store(nullptr, std::memory_order_release);
  munmap(const_cast<std::byte*>(data_), size_);
}

}  // namespace trireme::data
