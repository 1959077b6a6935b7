// Opening the port of the page's server. Thread-safe.
#pragma once

#include <string>

namespace trireme::watch {

inline constexpr int kPagePort = 8743;

// A socket that listens.
struct ListeningSocket {
  int descriptor = -1;
  int port = 0;
  std::string note;  // a sentence for the user, when it is another port than the wanted one
};

// port -1: the usual one, or one of the next that is free; 0: any free one. A port that is in use is replaced by a free
// one with a note, or where `is_strict` a user error; an address that is not this host's is a user error.
ListeningSocket open_listening_socket(const std::string& address, int port, bool is_strict);

}  // namespace trireme::watch
