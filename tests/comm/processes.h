// Ranks as real processes. Processes are made before threads are.
#pragma once

#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

#include "comm/worlds.h"

namespace trireme::comm {

// A rank in a process of its own; what it says comes through a pipe.
struct Process {
  pid_t number = -1;
  int words = -1;
};

inline Process start(const std::function<Group()>& joins, const std::function<void(Group&)>& body) {
  int ends[2];
  if (pipe(ends) != 0) return {};
  const pid_t number = fork();
  if (number == 0) {
    close(ends[0]);
    std::string said;
    try {
      Group group = joins();
      group.barrier();
      if (write(ends[1], "ready\n", 6) != 6) _exit(3);
      body(group);
      said = "done";
    } catch (const std::exception& error) {
      said = error.what();
    }
    const bool written = write(ends[1], said.data(), said.size()) == static_cast<ssize_t>(said.size());
    _exit(written ? 0 : 3);
  }
  close(ends[1]);
  return {number, ends[0]};
}

inline Process start(
    const JoinOptions& options, const std::function<void(Group&)>& body, const std::function<void()>& before = [] {}) {
  const auto joins = [&] {
    before();
    return join(options);
  };
  return start(joins, body);
}

inline std::string read_until(int from, char last) {
  std::string text;
  for (char c; read(from, &c, 1) == 1;) {
    if (c == last) break;
    text += c;
  }
  return text;
}

// All it says up to its end.
inline std::string last_words(const Process& process) {
  const std::string words = read_until(process.words, '\0');
  waitpid(process.number, nullptr, 0);
  close(process.words);
  return words;
}

// An all-reduce with a known result.
inline void add_up(Group& group) {
  std::vector<float> data(1000, 1.0f);
  group.all_reduce(data, Reduction::sum);
  if (data[999] != static_cast<float>(group.world())) throw std::runtime_error(fmt::format("the sum is {}", data[999]));
}

}  // namespace trireme::comm
