// The server of the page as a browser, and as an attacker, meets it: over real connections.
#include "watch/page/serve/page_server.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <nlohmann/json.hpp>
#include <thread>

#include "base/error.h"
#include "base/system/clock.h"
#include "watch/page/serve/page_assets.h"
#include "watch/run_folders.h"

namespace trireme::watch {
namespace {

using Json = nlohmann::json;

// A connection that has sent something.
class Connection {
 public:
  Connection(int port, const std::string& request) : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<std::uint16_t>(port));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT_EQ(::connect(socket_, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
    EXPECT_EQ(::send(socket_, request.data(), request.size(), MSG_NOSIGNAL), static_cast<ssize_t>(request.size()));
  }
  ~Connection() { ::close(socket_); }
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  // Reads until the text has come, or the connection ended, or the time is over.
  const std::string& read_until(const std::string& text, double seconds = 20) {
    const std::int64_t deadline = base::in_seconds(seconds);
    while (text.empty() || received_.find(text) == std::string::npos) {
      const std::int64_t left = (deadline - base::now_ns()) / 1'000'000;
      pollfd waited{socket_, POLLIN, 0};
      if (left <= 0 || ::poll(&waited, 1, static_cast<int>(left)) <= 0) break;
      char buffer[4096];
      const ssize_t got = ::recv(socket_, buffer, sizeof buffer, 0);
      if (got <= 0) break;
      received_.append(buffer, static_cast<std::size_t>(got));
    }
    return received_;
  }
  std::string all() { return read_until(""); }

 private:
  int socket_;
  std::string received_;
};

std::string get(const std::string& target, const std::string& headers = "") {
  return "GET " + target + " HTTP/1.1\r\nHost: localhost\r\n" + headers + "\r\n";
}

int status_of(const std::string& response) {
  return response.starts_with("HTTP/1.1 ") ? std::stoi(response.substr(9, 3)) : 0;
}

std::string body_of(const std::string& response) {
  const std::size_t end = response.find("\r\n\r\n");
  return end == std::string::npos ? "" : response.substr(end + 4);
}

class PageServerTest : public testing::Test {
 protected:
  PageServerTest() {
    write_file(folder_.path() / "runs/a/run.json", run_json("lenet5", 1));
    write_file(folder_.path() / "runs/a/metrics.jsonl", step_line(1, 2.5));
    write_file(folder_.path() / "secret.txt", "do not show");
    options_.runs.root = folder_.path() / "runs";
    options_.runs.interval = 0.05;
    options_.port = 0;
  }
  void start() { server_.emplace(options_); }
  std::string ask(const std::string& request) { return Connection(server_->port(), request).all(); }

  base::TemporaryFolder folder_{"page-server"};
  PageOptions options_;
  std::optional<PageServer> server_;
};

TEST_F(PageServerTest, gives_the_page_and_its_parts) {
  start();
  const std::string page = ask(get("/"));
  EXPECT_EQ(status_of(page), 200);
  EXPECT_NE(page.find("Content-Security-Policy: default-src 'self'"), std::string::npos);
  EXPECT_NE(page.find("<!doctype html>"), std::string::npos);
  for (const PageAsset& asset : page_assets()) {
    const std::string response = ask(get("/assets/" + std::string(asset.name)));
    EXPECT_EQ(status_of(response), 200) << asset.name;
    EXPECT_EQ(body_of(response), asset.text) << asset.name;
  }
  const Json list = Json::parse(body_of(ask(get("/api/runs"))));
  ASSERT_EQ(list.size(), 1u);
  EXPECT_EQ(list[0]["name"], "a");
  EXPECT_EQ(list[0]["loss"], 2.5);
  EXPECT_EQ(body_of(ask("HEAD / HTTP/1.1\r\nHost: localhost\r\n\r\n")), "");
}

TEST_F(PageServerTest, prometheus_gets_the_metrics_of_the_runs) {
  start();
  const std::string response = ask(get("/metrics"));
  EXPECT_EQ(status_of(response), 200);
  EXPECT_NE(response.find("version=0.0.4"), std::string::npos);
  EXPECT_NE(response.find("trireme_step{run=\"a\"} 1"), std::string::npos) << response;
}

TEST_F(PageServerTest, an_unchanged_part_is_not_sent_again) {
  start();
  const std::string first = ask(get("/assets/main.js"));
  const std::size_t tag = first.find("ETag: ");
  ASSERT_NE(tag, std::string::npos);
  const std::string value = first.substr(tag + 6, first.find("\r\n", tag) - tag - 6);
  const std::string again = ask(get("/assets/main.js", "If-None-Match: " + value + "\r\n"));
  EXPECT_EQ(status_of(again), 304);
  EXPECT_EQ(body_of(again), "");
}

TEST_F(PageServerTest, nothing_outside_the_page_can_be_read) {
  start();
  for (const char* target :
       {"/secret.txt", "/../secret.txt", "/assets/../../secret.txt", "/assets/%2e%2e/secret.txt", "/assets/",
        "/assets/..%2f..%2fsecret.txt", "//etc/passwd", "/assets//etc/passwd", "/api", "/api/live/x", "/%00"}) {
    const std::string response = ask(get(target));
    EXPECT_EQ(status_of(response), 404) << target << "\n" << response;
    EXPECT_EQ(response.find("do not show"), std::string::npos);
  }
  // Names of runs are looked up, not opened.
  Connection live(server_->port(), get("/api/live?run=../secret.txt&run=..&run=/etc&detail=.."));
  live.read_until("\"list\"");
  EXPECT_EQ(live.read_until("never", 0.5).find("\"runs\""), std::string::npos);
}

TEST_F(PageServerTest, foreign_hosts_origins_and_methods_are_refused) {
  start();
  EXPECT_EQ(status_of(ask("GET / HTTP/1.1\r\nHost: evil.example\r\n\r\n")), 403);
  EXPECT_EQ(status_of(ask(get("/api/runs", "Origin: http://evil.example\r\n"))), 403);
  EXPECT_EQ(status_of(ask(get("/api/runs", "Sec-Fetch-Site: cross-site\r\nSec-Fetch-Mode: no-cors\r\n"))), 403);
  EXPECT_EQ(status_of(ask("DELETE / HTTP/1.1\r\nHost: localhost\r\n\r\n")), 405);
  EXPECT_EQ(status_of(ask("POST /api/control?do=stop HTTP/1.1\r\nHost: localhost\r\nOrigin: http://localhost\r\n"
                          "Content-Length: 0\r\n\r\n")),
            405);
}

TEST_F(PageServerTest, oversized_and_broken_requests_are_refused_at_once) {
  start();
  EXPECT_EQ(status_of(ask("GET /" + std::string(100'000, 'x'))), 414);
  EXPECT_EQ(status_of(ask("GET / HTTP/1.1\r\nHost: localhost\r\nA: " + std::string(100'000, 'x'))), 431);
  EXPECT_EQ(status_of(ask("GET / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 999999999\r\n\r\n")), 413);
  EXPECT_EQ(status_of(ask("\x16\x03\x01\r\n\r\n")), 400) << "TLS";
  EXPECT_EQ(status_of(ask(get("/"))), 200) << "and the server lives";
}

TEST_F(PageServerTest, a_live_connection_gets_what_is_new_and_only_that) {
  start();
  Connection live(server_->port(), get("/api/live?run=a&detail=a"));
  const std::string first = live.read_until("\"steps\"");
  EXPECT_NE(first.find("text/event-stream"), std::string::npos);
  std::ofstream(folder_.path() / "runs/a/metrics.jsonl", std::ios::app) << step_line(2, 1.75);
  const std::string both = live.read_until("1.75");
  const std::string news = both.substr(first.size());
  EXPECT_NE(news.find(R"("first":1,"rows":[[)"), std::string::npos) << news;
  EXPECT_EQ(news.find("2.5"), std::string::npos) << "sent before";
  write_file(folder_.path() / "runs/b/run.json", run_json("resnet18", 1));
  EXPECT_NE(live.read_until("resnet18").find("resnet18"), std::string::npos) << "a new run in the list";
}

TEST_F(PageServerTest, large_numbers_keep_their_digits) {
  write_file(folder_.path() / "runs/a/resources.jsonl",
             R"({"host":"h","rank":0,"time":1795132245.125,"resident_bytes":123456789012,"cpu_user":0.123456789})"
             "\n");
  start();
  Connection live(server_->port(), get("/api/live?run=a&detail=a"));
  EXPECT_NE(live.read_until("0.1234568").find("[[1795132245.125,123456789012,0.1234568]]"), std::string::npos);
}

TEST_F(PageServerTest, fifty_browsers_at_once_then_a_clear_refusal_and_places_become_free) {
  start();
  std::vector<std::unique_ptr<Connection>> browsers;
  const auto open = [&] {
    browsers.push_back(std::make_unique<Connection>(server_->port(), get("/api/live?run=a&detail=a")));
  };
  for (int i = 0; i < 50; ++i) open();
  for (auto& browser : browsers) EXPECT_NE(browser->read_until("\"steps\"").find("\"steps\""), std::string::npos);
  EXPECT_EQ(status_of(ask(get("/"))), 200) << "others still get the page";
  while (browsers.size() < PageServer::kMostLive) open();
  for (auto& browser : browsers) browser->read_until("\"steps\"");
  const std::string refused = ask(get("/api/live?run=a"));
  EXPECT_EQ(status_of(refused), 503);
  EXPECT_NE(refused.find("browsers watch already"), std::string::npos);
  EXPECT_EQ(status_of(ask(get("/"))), 200);
  browsers.clear();
  for (int i = 0; i < 100; ++i) {
    Connection one(server_->port(), get("/api/live?run=a"));
    if (status_of(one.read_until("\r\n\r\n")) == 200) return;
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
  FAIL() << "the places of closed browsers were not freed";
}

TEST_F(PageServerTest, a_token_opens_the_page_once_and_a_cookie_from_then_on) {
  options_.token = "0123456789abcdef0123";
  start();
  EXPECT_NE(server_->url().find("?token=" + options_.token), std::string::npos);
  EXPECT_EQ(status_of(ask(get("/"))), 401);
  EXPECT_EQ(status_of(ask(get("/assets/main.js"))), 401);
  const std::string first = ask(get("/?token=" + options_.token));
  EXPECT_EQ(status_of(first), 303);
  EXPECT_NE(first.find("Location: /\r\n"), std::string::npos);
  const std::size_t cookie = first.find("Set-Cookie: ");
  ASSERT_NE(cookie, std::string::npos);
  const std::string value = first.substr(cookie + 12, first.find(';', cookie) - cookie - 12);
  EXPECT_EQ(status_of(ask(get("/", "Cookie: " + value + "\r\n"))), 200);
  EXPECT_EQ(status_of(ask(get("/api/runs", "Authorization: Bearer " + options_.token + "\r\n"))), 200);
}

TEST_F(PageServerTest, other_addresses_and_steering_need_a_token) {
  options_.address = "0.0.0.0";
  start();
  EXPECT_NE(server_->url().find("?token="), std::string::npos);
  EXPECT_EQ(status_of(ask(get("/"))), 401);
}

TEST_F(PageServerTest, steers_the_run_where_it_may) {
  options_.control = std::make_shared<train::RunControl>();
  options_.token = "0123456789abcdef0123";
  start();
  const std::string known = "Authorization: Bearer " + options_.token + "\r\n";
  const auto post = [&](const std::string& wish, const std::string& headers) {
    return status_of(ask("POST /api/control?do=" + wish + " HTTP/1.1\r\nHost: localhost\r\n" + headers +
                         "Content-Length: 0\r\n\r\n"));
  };
  const std::string own = "Origin: http://localhost\r\n";
  EXPECT_EQ(post("pause", own), 401);
  EXPECT_EQ(post("pause", known), 403) << "without an origin";
  EXPECT_EQ(post("pause", known + "Origin: http://evil.example\r\n"), 403);
  EXPECT_FALSE(options_.control->wants_pause());
  EXPECT_EQ(post("pause", known + own), 204);
  EXPECT_TRUE(options_.control->wants_pause());
  EXPECT_EQ(post("continue", known + own), 204);
  EXPECT_FALSE(options_.control->wants_pause());
  EXPECT_EQ(post("checkpoint", known + own), 204);
  EXPECT_TRUE(options_.control->takes_wish_for_checkpoint());
  EXPECT_EQ(post("explode", known + own), 400);
  options_.control->allow_only_stop();
  EXPECT_EQ(post("pause", known + own), 409);
  EXPECT_EQ(post("stop", known + own), 204);
  EXPECT_TRUE(options_.control->wants_stop());
}

TEST_F(PageServerTest, a_port_in_use_is_replaced_or_refused) {
  start();
  options_.port = server_->port();
  const PageServer other(options_);
  EXPECT_NE(other.port(), server_->port());
  EXPECT_NE(other.note().find("in use"), std::string::npos);
  options_.is_strict = true;
  EXPECT_THROW(PageServer{options_}, base::Error);
  options_.port = 0;
  options_.address = "203.0.113.7";
  EXPECT_THROW(PageServer{options_}, base::Error) << "an address of another host";
}

// A browser that does not read must not keep the server from ending, nor others from being served.
TEST_F(PageServerTest, ends_at_once_with_browsers_connected) {
  std::string lines;
  for (int step = 2; step < 40'000; ++step) lines += step_line(step, 1.0 / step);
  std::ofstream(folder_.path() / "runs/a/metrics.jsonl", std::ios::app) << lines;
  start();
  Connection deaf(server_->port(), get("/api/live?run=a&detail=a"));
  Connection half(server_->port(), "GET / HT");
  Connection live(server_->port(), get("/api/live?run=a&detail=a"));
  live.read_until("\"steps\"");
  const std::int64_t start_ns = base::now_ns();
  server_.reset();
  EXPECT_LT(base::seconds_since(start_ns), 15);
}

}  // namespace
}  // namespace trireme::watch
