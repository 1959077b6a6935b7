#include "base/system/files.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>

#include "base/error.h"

namespace trireme::base {
namespace {

// Writes everything; returns 0 or the errno of the failure.
int write_all(int descriptor, const char* data, std::size_t size) {
  while (size > 0) {
    const ssize_t written = ::write(descriptor, data, size);
    if (written < 0) {
      if (errno == EINTR) continue;
      return errno;
    }
    data += written;
    size -= static_cast<std::size_t>(written);
  }
  return 0;
}

}  // namespace

std::string absolute_path(const std::string& path) {
  std::error_code cause;
  const fs::path whole = fs::absolute(path, cause);
  return path.empty() || cause ? path : whole.lexically_normal().string();
}

std::vector<std::byte> read_file(const fs::path& path) {
  std::error_code cause;
  if (fs::is_directory(path, cause)) user_error("{} is a folder, a file was expected", path.string());
  // A pipe would block, a device may never end.
  if (fs::is_other(path, cause)) user_error("{} is a pipe or a device, a file was expected", path.string());
  std::ifstream in(path, std::ios::binary | std::ios::ate);
  if (!in) user_error("cannot read {}: {}", path.string(), std::strerror(errno));
  std::vector<std::byte> bytes(static_cast<std::size_t>(in.tellg()));
  in.seekg(0);
  in.read(reinterpret_cast<char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  if (!in) user_error("cannot read {}: the file ended early", path.string());
  return bytes;
}

std::string read_text(const fs::path& path) {
  const auto bytes = read_file(path);
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

void check_new_file(std::string_view option, const fs::path& path) {
  std::error_code ignored;
  if (fs::exists(fs::symlink_status(path, ignored)))
    user_error("{} {} exists already; choose another name", option, path.string());
  const fs::path folder = path.has_parent_path() ? path.parent_path() : fs::path(".");
  if (!fs::is_directory(folder, ignored))
    user_error("{} {}: there is no folder {}; make it, or choose another", option, path.string(), folder.string());
}

void write_file_atomically(const fs::path& path, std::span<const std::byte> bytes) {
  const fs::path temporary = path.string() + ".partial";
  const auto give_up = [&](int cause) {
    std::error_code ignored;
    fs::remove(temporary, ignored);
    run_error("cannot write {}: {}", path.string(), std::strerror(cause));
  };
  const int descriptor = ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  if (descriptor < 0) give_up(errno);
  int cause = write_all(descriptor, reinterpret_cast<const char*>(bytes.data()), bytes.size());
  if (cause == 0 && ::fsync(descriptor) != 0) cause = errno;
  if (::close(descriptor) != 0 && cause == 0) cause = errno;
  if (cause != 0) give_up(cause);
  if (::rename(temporary.c_str(), path.c_str()) != 0) give_up(errno);
  sync_folder(path.parent_path());
}

void write_text_atomically(const fs::path& path, std::string_view text) {
  write_file_atomically(path, std::as_bytes(std::span(text)));
}

void sync_folder(const fs::path& folder) {
  const fs::path target = folder.empty() ? fs::path(".") : folder;
  const int descriptor = ::open(target.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) return;
  ::fsync(descriptor);
  ::close(descriptor);
}

LineWriter::LineWriter(const fs::path& path)
    : path_(path), descriptor_(::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644)) {
  if (descriptor_ < 0) run_error("cannot write {}: {}", path.string(), std::strerror(errno));
}

LineWriter::~LineWriter() { ::close(descriptor_); }

void LineWriter::write(std::string_view line) {
  std::string whole(line);
  whole += '\n';
  if (const int cause = write_all(descriptor_, whole.data(), whole.size()); cause != 0)
    run_error("cannot write {}: {}", path_.string(), std::strerror(cause));
}

}  // namespace trireme::base
