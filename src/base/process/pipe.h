// Descriptor: owns a file descriptor. Pipe: the two ends of a pipe. One thread at a time.
#pragma once

#include <utility>

namespace trireme::base {

class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int number) : number_(number) {}
  ~Descriptor();  // closes it
  Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(number_, other.number_);
    return *this;
  }

  int number() const { return number_; }
  bool is_open() const { return number_ >= 0; }
  void close() { *this = Descriptor(); }

 private:
  int number_ = -1;
};

struct Pipe {
  Descriptor read, write;
};

// Both ends are close-on-exec and never one of the three standard descriptors. Running out of descriptors is a run
// error.
Pipe make_pipe();
void set_non_blocking(const Descriptor& end);

// The same file under a number above the standard descriptors, close-on-exec.
Descriptor above_standard(Descriptor low);

}  // namespace trireme::base
