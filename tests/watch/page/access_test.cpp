// Who is let in, and which requests never reach the HTTP library.
#include "watch/page/serve/access.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "watch/run_folders.h"

namespace trireme::watch {
namespace {

int status_of(const Access& access, const Credentials& credentials) {
  const auto refusal = access.refusal_of(credentials);
  return refusal ? refusal->status : 200;
}

Credentials from(const std::string& host) {
  Credentials credentials;
  credentials.host = host;
  return credentials;
}

TEST(access, only_own_names_of_this_host) {
  const Access local("127.0.0.1", "");
  for (const char* good : {"127.0.0.1:8743", "localhost:8743", "LOCALHOST", "[::1]:8743", "127.0.0.1"})
    EXPECT_EQ(status_of(local, from(good)), 200) << good;
  for (const char* bad : {"evil.example", "evil.example:8743", "192.168.1.2:8743", "localhost.evil.example", "",
                          "127.0.0.1.evil.example", "[::2]:8743", "["})
    EXPECT_EQ(status_of(local, from(bad)), 403) << bad;
  const Access open("0.0.0.0", "0123456789abcdef");
  Credentials known = from("192.168.1.2:8743");
  known.token = "0123456789abcdef";
  EXPECT_EQ(status_of(open, known), 200);
  known.host = "evil.example:8743";
  EXPECT_EQ(status_of(open, known), 403);
}

TEST(access, foreign_pages_are_refused) {
  const Access local("127.0.0.1", "");
  Credentials request = from("127.0.0.1:8743");
  request.origin = "http://127.0.0.1:8743";
  EXPECT_EQ(status_of(local, request), 200);
  for (const char* foreign : {"http://evil.example", "null", "http://127.0.0.1:9999", "https://127.0.0.1:8743"}) {
    request.origin = foreign;
    EXPECT_EQ(status_of(local, request), 403) << foreign;
  }
  request.origin = "";
  request.fetch_site = "cross-site";
  EXPECT_EQ(status_of(local, request), 403);
  request.fetch_mode = "navigate";
  EXPECT_EQ(status_of(local, request), 200) << "a link to the page";
  request.is_post = true;
  EXPECT_EQ(status_of(local, request), 403) << "a form of another page, without an origin";
}

TEST(access, the_token_by_address_cookie_or_header) {
  const std::string token = new_token();
  EXPECT_EQ(token.size(), 32u);
  EXPECT_NE(token, new_token());
  const Access access("127.0.0.1", token);
  Credentials request = from("localhost:8743");
  EXPECT_EQ(status_of(access, request), 401);
  request.token = token.substr(1) + "0";
  EXPECT_EQ(status_of(access, request), 401);
  request.token = token;
  EXPECT_EQ(status_of(access, request), 200);
  EXPECT_TRUE(access.is_first_visit(request));
  request.token = "";
  request.cookie = "other=1; trireme_token_8743=" + token + "; x=2";
  EXPECT_EQ(status_of(access, request), 200);
  EXPECT_FALSE(access.is_first_visit(request));
  request.cookie = "trireme_token_8743=; trireme_token_1=" + token.substr(1);
  EXPECT_EQ(status_of(access, request), 401);
  request.authorization = "Bearer " + token;
  EXPECT_EQ(status_of(access, request), 200);
  EXPECT_NE(access.cookie(8743).find("HttpOnly; SameSite=Strict"), std::string::npos);
}

TEST(access, token_files) {
  const base::TemporaryFolder folder{"token"};
  write_file(folder.path() / "good", "0123456789abcdefXYZ\n");
  EXPECT_EQ(token_of_file((folder.path() / "good").string()), "0123456789abcdefXYZ");
  for (const char* bad : {"short\n", "", "0123456789 abcdefgh\n", "0123456789abcdef\n0123\n"}) {
    write_file(folder.path() / "bad", bad);
    EXPECT_THROW(token_of_file((folder.path() / "bad").string()), base::Error) << bad;
  }
  EXPECT_THROW(token_of_file((folder.path() / "none").string()), base::Error);
}

int gate(const std::string& head) {
  const auto refusal = refusal_of(head);
  return refusal ? refusal->status : 200;
}

TEST(request_gate, lets_requests_of_browsers_through) {
  EXPECT_EQ(gate("GET / HTTP/1.1\r\nHost: localhost:8743\r\nAccept: text/html,*/*;q=0.8\r\n\r\n"), 200);
  EXPECT_EQ(gate("POST /api/control?do=stop HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n"), 200);
}

TEST(request_gate, leaves_a_header_out) {
  EXPECT_EQ(without_header("GET / HTTP/1.1\r\nHost: x\r\nAccept-Encoding: br\r\nA: accept-encoding\r\n\r\n",
                           "accept-encoding"),
            "GET / HTTP/1.1\r\nHost: x\r\nA: accept-encoding\r\n\r\n");
}

TEST(request_gate, refuses_the_rest) {
  const std::string host = "Host: x\r\n", end = "\r\n";
  const auto get = [&](const std::string& headers) { return gate("GET / HTTP/1.1\r\n" + host + headers + end); };
  EXPECT_EQ(get("Content-Length: 5\r\n"), 413);
  EXPECT_EQ(get("content-length: 00\r\n"), 413);
  EXPECT_EQ(get("Transfer-Encoding: chunked\r\n"), 413);
  EXPECT_EQ(get("Range: bytes=0-\r\n"), 416);
  EXPECT_EQ(get("Expect: 100-continue\r\n"), 417);
  EXPECT_EQ(get("Host: y\r\n"), 400);
  EXPECT_EQ(get("no colon\r\n"), 400);
  EXPECT_EQ(get(" folded: x\r\n"), 400);
  EXPECT_EQ(get("a\nb: c\r\n"), 400);
  EXPECT_EQ(get(std::string("a: \0\r\n", 6)), 400);
  std::string many;
  for (int i = 0; i < 70; ++i) many += "a" + std::to_string(i) + ": b\r\n";
  EXPECT_EQ(get(many), 431);
  EXPECT_EQ(get("a: " + std::string(20'000, 'b') + "\r\n"), 431);
  EXPECT_EQ(gate("GET / HTTP/1.1\r\n\r\n"), 400) << "no host";
  EXPECT_EQ(gate("GET /" + std::string(3000, 'a') + " HTTP/1.1\r\nHost: x\r\n\r\n"), 414);
  EXPECT_EQ(gate("DELETE / HTTP/1.1\r\nHost: x\r\n\r\n"), 405);
  EXPECT_EQ(gate("GET http://x/ HTTP/1.1\r\nHost: x\r\n\r\n"), 400);
  EXPECT_EQ(gate("GET / HTTP/2\r\nHost: x\r\n\r\n"), 505);
  EXPECT_EQ(gate("GET /\x80 HTTP/1.1\r\nHost: x\r\n\r\n"), 400);
  EXPECT_EQ(gate("nonsense\r\n\r\n"), 400);
  EXPECT_EQ(gate("\r\n\r\n"), 400);
  EXPECT_EQ(gate("GET / HTTP/1.1\r\nHost: x\r\n"), 400);
}

}  // namespace
}  // namespace trireme::watch
