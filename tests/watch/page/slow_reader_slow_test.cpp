// A browser that does not read what it asked for is dropped: its place becomes free.
#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <thread>

#include "watch/page/serve/page_server.h"
#include "watch/run_folders.h"

namespace trireme::watch {
namespace {

// A connection that has asked for something, with a small buffer for the answer.
int asking(int port, const std::string& target) {
  const int socket = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const int small = 4096;
  ::setsockopt(socket, SOL_SOCKET, SO_RCVBUF, &small, sizeof small);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  EXPECT_EQ(::connect(socket, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  const std::string request = "GET " + target + " HTTP/1.1\r\nHost: localhost\r\n\r\n";
  EXPECT_GT(::send(socket, request.data(), request.size(), MSG_NOSIGNAL), 0);
  return socket;
}

TEST(page_server, drops_a_browser_that_does_not_read) {
  const base::TemporaryFolder folder{"slow-reader"};
  std::string lines, target = "/api/live?detail=0";
  for (int step = 1; step < 16'000; ++step) lines += step_line(step, 1.0 / step);
  for (int run = 0; run < 24; ++run) {  // more than the system keeps for a connection
    write_file(folder.path() / std::to_string(run) / "run.json", run_json("lenet5", 1));
    write_file(folder.path() / std::to_string(run) / "metrics.jsonl", lines);
    target += "&run=" + std::to_string(run);
  }
  PageOptions options;
  options.runs.root = folder.path();
  options.port = 0;
  const PageServer server(options);
  std::vector<int> sockets{asking(server.port(), target)};
  // All places but the one of the first; when that is dropped, one more.
  for (std::size_t i = 0; i < PageServer::kMostLive; ++i) sockets.push_back(asking(server.port(), "/api/live"));
  const auto status = [](int socket) {
    std::array<char, 12> head{};
    EXPECT_EQ(::recv(socket, head.data(), head.size(), MSG_WAITALL), 12);
    return std::string(head.data() + 9, 3);
  };
  std::size_t refused = 0;
  for (std::size_t i = 1; i < sockets.size(); ++i) refused += status(sockets[i]) == "503";
  EXPECT_EQ(refused, 1u);
  std::this_thread::sleep_for(std::chrono::seconds(15));  // it gets ten
  sockets.push_back(asking(server.port(), "/api/live"));
  EXPECT_EQ(status(sockets.back()), "200");
  for (const int socket : sockets) ::close(socket);
}

}  // namespace
}  // namespace trireme::watch
