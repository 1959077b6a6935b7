// Member: how a group describes each of its ranks. Pure functions.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "comm/transport/tcp/socket.h"

namespace trireme::comm {

struct Member {
  int rank = 0;
  int process = 0;        // process id on its host
  std::string host;       // host name, for messages to the user
  std::string host_mark;  // equal for ranks that can share memory
  Address address;        // listens for ranks of other hosts
  Address local;          // listens for ranks of its own host
};

// The first message of a rank to the failure detector.
struct Hello {
  int world = 0;
  std::string program;  // must be equal on all ranks
  Member member;
};

// How a process ended, as its launcher reports it. `how` continues a sentence: "was killed by signal 9".
struct ProcessExit {
  int process = 0;
  std::string host;
  std::string how;
};

std::string to_json(const Hello& hello);
Hello hello_from_json(std::string_view text);  // other text is a FrameError
std::string to_json(const ProcessExit& ending);
std::optional<ProcessExit> ending_from_json(std::string_view text);  // nothing if the text is something else
std::string to_json(const std::vector<Member>& members);
std::vector<Member> members_from_json(std::string_view text);

// "rank 2 (process 4711 on node3)".
std::string describe(const Member& member);
// This process; rank and addresses are left empty.
Member this_process();

}  // namespace trireme::comm
