// FileTail: the new whole lines of a growing file.
// One thread at a time.
//
// The file may be cut or replaced while it is read (a resumed run does that); its lines are then read again from the
// first. It need not exist yet, and its last line may be half written.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "base/system/files.h"

namespace trireme::watch {

class FileTail {
 public:
  explicit FileTail(base::fs::path path) : path_(std::move(path)) {}

  struct Reader {
    std::function<void()> start_again;  // forget the lines so far
    std::function<void(std::string_view line)> line;
  };
  // Reads at most about `most_bytes` and says whether there is more. A file that cannot be read has nothing new.
  bool read(const Reader& reader, std::size_t most_bytes);

 private:
  bool is_still_the_same(int descriptor, std::int64_t size) const;

  static constexpr std::size_t kAnchor = 256, kLongestLine = std::size_t{16} << 20;

  base::fs::path path_;
  std::int64_t offset_ = 0;  // behind the last whole line
  std::string anchor_;       // the bytes before it: others there mean another file
  std::uint64_t device_ = 0, inode_ = 0;
  bool skips_line_ = false;  // the line at the offset is too long
};

}  // namespace trireme::watch
