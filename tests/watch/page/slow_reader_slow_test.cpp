// A browser that does not read what it asked for is dropped, and keeps nobody waiting.
#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <thread>

#include "base/system/clock.h"
#include "watch/page/serve/page_server.h"
#include "watch/run_folders.h"

namespace trireme::watch {
namespace {

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

  const int socket = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const int small = 4096;
  ::setsockopt(socket, SOL_SOCKET, SO_RCVBUF, &small, sizeof small);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(server.port()));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  ASSERT_EQ(::connect(socket, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  const std::string request = "GET " + target + " HTTP/1.1\r\nHost: localhost\r\n\r\n";
  ASSERT_GT(::send(socket, request.data(), request.size(), MSG_NOSIGNAL), 0);
  std::this_thread::sleep_for(std::chrono::seconds(20));  // it gets ten

  // What the system has kept arrives, and then the end, although the runs could be watched for ever.
  const std::int64_t start = base::now_ns();
  timeval patience{.tv_sec = 20, .tv_usec = 0};
  ::setsockopt(socket, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  std::array<char, 65536> buffer{};
  ssize_t got = 0;
  while ((got = ::recv(socket, buffer.data(), buffer.size(), 0)) > 0 && base::seconds_since(start) < 60) {
  }
  EXPECT_TRUE(got == 0 || errno == ECONNRESET) << "the connection still lives";
  ::close(socket);
}

}  // namespace
}  // namespace trireme::watch
