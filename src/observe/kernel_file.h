// KernelFile: a small file of /proc or /sys that is read again and again through one kept descriptor.
// One thread at a time.
//
// FieldScanner reads the words and numbers of such a text.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>

#include "base/system/files.h"

namespace trireme::observe {

inline constexpr double kNotTold = std::numeric_limits<double>::quiet_NaN();  // a value that the system does not tell

class KernelFile {
 public:
  // A file that does not exist, or may not be read, is an empty one.
  explicit KernelFile(const base::fs::path& path);
  ~KernelFile();
  KernelFile(KernelFile&& other) noexcept;
  KernelFile& operator=(KernelFile&&) = delete;

  // The whole content as it is now, valid until the next call; empty if it cannot be read.
  std::string_view read();
  // The content as one number.
  double read_number();
  bool exists() const { return descriptor_ >= 0; }

 private:
  int descriptor_ = -1;
  std::string buffer_;
};

class FieldScanner {
 public:
  explicit FieldScanner(std::string_view text) : rest_(text) {}

  std::string_view word();  // up to the next blank; empty at the end
  double number();          // kNotTold if the next word is none
  void skip(int words);
  std::string_view line();  // the rest of this line
  bool is_at_end() const { return rest_.empty(); }

 private:
  std::string_view rest_;
};

}  // namespace trireme::observe
