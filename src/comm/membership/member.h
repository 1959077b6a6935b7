// Member: what a group knows of each of its ranks, and what it says about itself when it comes.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "comm/transport/tcp/socket.h"

namespace trireme::comm {

struct Member {
  int rank = 0;
  int process = 0;        // its number on its host
  std::string host;       // its name, for people
  std::string host_mark;  // equal for ranks that can share memory
  Address address;        // where it takes connections of other hosts
  Address local;          // where it takes those of its own
};

// What a rank says first.
struct Hello {
  int world = 0;
  std::string program;  // equal on all ranks, or they must not work together
  Member member;
};

// How a process that a launcher had started ended, as a sentence goes on: "was killed by signal 9".
struct ProcessExit {
  int process = 0;
  std::string host;
  std::string how;
};

std::string to_json(const Hello& hello);
Hello hello_from_json(std::string_view text);  // a FrameError when it is none
std::string to_json(const ProcessExit& ending);
std::optional<ProcessExit> ending_from_json(std::string_view text);  // nothing when it is something else
std::string to_json(const std::vector<Member>& members);
std::vector<Member> members_from_json(std::string_view text);

// "rank 2 (process 4711 on node3)".
std::string describe(const Member& member);
// This process, as far as it knows itself: all but rank and addresses.
Member this_process();

}  // namespace trireme::comm
