#include "cluster/user_secret.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <optional>
#include <thread>

#include "base/error.h"
#include "cluster/random_token.h"
#include "comm/transport/tcp/socket.h"

namespace trireme::cluster {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kDigits = 64;
// A file created on another host may appear in a shared home folder with a delay.
constexpr int kTries = 100;
constexpr std::chrono::milliseconds kPause{50};

[[noreturn]] void refuse(const fs::path& file, const std::string& why) {
  base::user_error(
      "a job under Slurm needs a secret, but {} {}; correct that, or set a secret with "
      "export TRIREME_TOKEN=$(openssl rand -hex 32) before srun",
      file.string(), why);
}

// Returns nullopt when the file does not exist.
std::optional<std::string> read_secret(const fs::path& file) {
  const comm::Socket opened(::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  if (!opened.is_open() && errno == ENOENT) return std::nullopt;
  if (!opened.is_open()) refuse(file, fmt::format("cannot be read: {}", std::strerror(errno)));
  struct stat status {};
  if (::fstat(opened.descriptor(), &status) != 0) refuse(file, fmt::format("cannot be read: {}", std::strerror(errno)));
  if (!S_ISREG(status.st_mode)) refuse(file, "is not a regular file");
  if (status.st_uid != ::geteuid()) refuse(file, "belongs to another user");
  if ((status.st_mode & 077) != 0) refuse(file, "can be read or written by others (it must have the mode 0600)");
  std::array<char, kDigits + 1> bytes{};
  const ssize_t count = ::read(opened.descriptor(), bytes.data(), bytes.size());
  const std::string secret(bytes.data(), static_cast<std::size_t>(std::clamp<ssize_t>(count, 0, kDigits)));
  const auto is_digit = [](char c) { return std::strchr("0123456789abcdef", c) != nullptr && c != '\0'; };
  if (secret.size() != kDigits || !std::all_of(secret.begin(), secret.end(), is_digit))
    refuse(file, fmt::format("does not hold {} hexadecimal digits (remove it, and a new one is made)", kDigits));
  return secret;
}

// Writes a draft and links it to its name: the file appears complete or not at all. When several processes do this at
// the same time, the first link wins and the others keep its file.
void make_secret(const fs::path& file) {
  const fs::path draft = file.string() + "." + random_token().substr(0, 16);
  const auto fail = [&](const char* what) {
    const int error = errno;
    ::unlink(draft.c_str());
    refuse(file, fmt::format("cannot be {}: {}", what, std::strerror(error)));
  };
  const comm::Socket made(::open(draft.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  if (!made.is_open()) fail("made");
  const std::string line = random_token() + "\n";
  if (::write(made.descriptor(), line.data(), line.size()) != static_cast<ssize_t>(line.size()) ||
      ::fsync(made.descriptor()) != 0)
    fail("written");
  if (::link(draft.c_str(), file.c_str()) != 0 && errno != EEXIST) fail("made");
  ::unlink(draft.c_str());
}

}  // namespace

std::string user_secret(const std::string& home) {
  if (home.empty()) refuse("~/.trireme/job_secret", "has no place, since HOME is not set");
  const fs::path folder = fs::path(home) / ".trireme", file = folder / "job_secret";
  for (int i = 0; i < kTries; ++i) {
    if (auto secret = read_secret(file)) return *secret;
    if (::mkdir(folder.c_str(), 0700) != 0 && errno != EEXIST)
      refuse(file, fmt::format("cannot be made: {}", std::strerror(errno)));
    if (i > 0) std::this_thread::sleep_for(kPause);
    make_secret(file);
  }
  refuse(file, "cannot be found after it was made");
}

}  // namespace trireme::cluster
