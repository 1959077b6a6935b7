// ClientStream: a connection to a browser as the HTTP library sees it: the head of a request that has been read and
// checked, then nothing more; and writes that end when the browser reads too slowly or is gone.
// One thread at a time.
#pragma once

#include <string>

#include "watch/page/serve/http_library.h"

namespace trireme::watch {

class ClientStream : public httplib::Stream {
 public:
  ClientStream(int socket, std::string head, double write_seconds)
      : socket_(socket), head_(std::move(head)), write_seconds_(write_seconds) {}

  using httplib::Stream::write;
  bool is_readable() const override { return given_ < head_.size(); }
  bool is_writable() const override;
  ssize_t read(char* to, std::size_t size) override;
  ssize_t write(const char* from, std::size_t size) override;
  void get_remote_ip_and_port(std::string& ip, int& port) const override;
  void get_local_ip_and_port(std::string& ip, int& port) const override;
  socket_t socket() const override { return socket_; }

 private:
  int socket_;
  std::string head_;
  std::size_t given_ = 0;
  double write_seconds_;  // for each piece that is written
  bool has_failed_ = false;
};

// Writes all within the time; false if that was not possible.
bool send_all(int socket, std::string_view text, double seconds);
// Says that nothing more comes, waits a moment for the other side to read it, and closes.
void close_politely(int socket);

}  // namespace trireme::watch
