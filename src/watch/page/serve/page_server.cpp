#include "watch/page/serve/page_server.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <mutex>
#include <nlohmann/json.hpp>
#include <set>
#include <thread>

#include "base/cpu/thread_name.h"
#include "base/hash.h"
#include "base/system/clock.h"
#include "watch/formats/prometheus.h"
#include "watch/page/serve/access.h"
#include "watch/page/serve/client_stream.h"
#include "watch/page/serve/connection_pool.h"
#include "watch/page/serve/http_library.h"
#include "watch/page/serve/listening_socket.h"
#include "watch/page/serve/live_session.h"
#include "watch/page/serve/page_assets.h"
#include "watch/page/serve/request_gate.h"

namespace trireme::watch {
namespace {

constexpr std::size_t kThreads = 128, kWaiting = 512, kMostRunsAtOnce = 32;
constexpr double kHeadSeconds = 5, kWriteSeconds = 10, kKeepAliveSeconds = 5, kRefuseSeconds = 0.5,
                 kLastWordsSeconds = 0.3;

const char* type_of_asset(std::string_view name) {
  if (name.ends_with(".html")) return "text/html; charset=utf-8";
  if (name.ends_with(".js")) return "text/javascript; charset=utf-8";
  if (name.ends_with(".css")) return "text/css; charset=utf-8";
  if (name.ends_with(".svg")) return "image/svg+xml";
  return "text/plain; charset=utf-8";
}

httplib::Headers safe_headers() {
  return {{"Content-Security-Policy",
           "default-src 'self'; img-src 'self' data:; frame-ancestors 'none'; base-uri 'none'; form-action 'none'"},
          {"X-Content-Type-Options", "nosniff"},
          {"Referrer-Policy", "no-referrer"},
          {"Cross-Origin-Resource-Policy", "same-origin"},
          {"Cross-Origin-Opener-Policy", "same-origin"}};
}

Credentials credentials_of(const httplib::Request& request) {
  return {request.get_header_value("Host"),           request.get_header_value("Origin"),
          request.get_header_value("Sec-Fetch-Site"), request.get_header_value("Sec-Fetch-Mode"),
          request.get_header_value("Cookie"),         request.get_header_value("Authorization"),
          request.get_param_value("token"),           request.method == "POST"};
}

void send_event(httplib::DataSink& sink, const std::string& json) {
  const std::string text = "data: " + json + "\n\n";
  sink.write(text.data(), text.size());
}

void answer(httplib::Response& response, const Refusal& refusal) {
  response.status = refusal.status;
  response.set_content(refusal.sentence + "\n", "text/plain; charset=utf-8");
}

}  // namespace

class PageServer::Http : private httplib::Server {
 public:
  explicit Http(PageOptions options)
      : options_(std::move(options)),
        access_(options_.address, token_for(options_)),
        socket_(open_listening_socket(options_.address, options_.port, options_.is_strict)),
        hub_(options_.runs) {
    svr_sock_ = socket_.descriptor;
    new_task_queue = [] { return new ConnectionPool(kThreads, kWaiting); };
    set_default_headers(safe_headers());
    set_pre_routing_handler([this](const httplib::Request& request, httplib::Response& response) {
      handle(request, response);
      return HandlerResponse::Handled;
    });
    set_exception_handler([](const httplib::Request&, httplib::Response& response, std::exception_ptr) {
      answer(response, {500, "the page's server could not answer this"});
    });
    thread_ = std::thread([this] {
      base::name_this_thread("page accept");
      accepting_ = std::this_thread::get_id();
      listen_after_bind();
      has_ended_ = true;
    });
    while (!is_running() && !has_ended_) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }

  ~Http() override {
    hub_.close();
    // The last words, for those who read them at once.
    const std::int64_t deadline = base::in_seconds(kLastWordsSeconds);
    while (live_ > 0 && base::now_ns() < deadline) std::this_thread::sleep_for(std::chrono::milliseconds(2));
    {
      // Nobody who reads or writes slowly may keep a run from ending.
      const std::lock_guard lock(mutex_);
      ends_ = true;
      for (const int one : sockets_) ::shutdown(one, SHUT_RDWR);
    }
    stop();
    thread_.join();
  }

  int port() const { return socket_.port; }
  const std::string& note() const { return socket_.note; }

  std::string url() const {
    const bool is_any = options_.address == "0.0.0.0" || options_.address == "::";
    std::string host = options_.address;
    if (std::array<char, 256> name{}; is_any && ::gethostname(name.data(), name.size() - 1) == 0) host = name.data();
    if (host.find(':') != std::string::npos) host = "[" + host + "]";
    return fmt::format("http://{}:{}/{}", host, port(), access_.token().empty() ? "" : "?token=" + access_.token());
  }

 private:
  static std::string token_for(const PageOptions& options) {
    if (!options.token.empty()) return options.token;
    return is_loopback(options.address) && !options.control ? std::string() : new_token();
  }

  bool process_and_close_socket(socket_t socket) override {
    ::fcntl(socket, F_SETFD, FD_CLOEXEC);
    if (std::this_thread::get_id() == accepting_.load()) {  // no thread was free, see ConnectionPool
      send_all(socket, plain_response(503, "too many browsers at once; try again later", true), kRefuseSeconds);
      ::close(socket);
      return false;
    }
    {
      const std::lock_guard lock(mutex_);
      sockets_.insert(socket);
      if (ends_) ::shutdown(socket, SHUT_RDWR);
    }
    const HeadOrRefusal head = read_head(socket, kHeadSeconds);
    if (const auto* refusal = std::get_if<Refusal>(&head))
      send_all(socket, plain_response(refusal->status, refusal->sentence, true), kWriteSeconds);
    if (const auto* text = std::get_if<std::string>(&head)) {
      // The library would compress each answer anew, with much work and for a browser that is near.
      ClientStream stream(socket, without_header(*text, "accept-encoding"), kWriteSeconds);
      bool is_closed = false;
      process_request(stream, true, is_closed, nullptr);
    }
    {
      const std::lock_guard lock(mutex_);
      sockets_.erase(socket);
    }
    close_politely(socket);
    return true;
  }

  void handle(const httplib::Request& request, httplib::Response& response) {
    const Credentials credentials = credentials_of(request);
    if (const auto refusal = access_.refusal_of(credentials)) return answer(response, *refusal);
    if (credentials.is_post) return steer(request, response);
    response.status = 200;
    if (request.path == "/") return page(credentials, request, response);
    if (request.path == "/api/runs") {
      response.set_header("Cache-Control", "no-store");
      return response.set_content(hub_.list(), "application/json");
    }
    if (request.path == "/api/page") return about_page(response);
    if (request.path == "/metrics") return metrics(response);
    if (request.path == "/api/live") return live(request, response);
    if (request.path == "/favicon.ico") return asset("icon.svg", request, response);
    constexpr std::string_view kAssets = "/assets/";
    if (request.path.starts_with(kAssets)) return asset(request.path.substr(kAssets.size()), request, response);
    answer(response, {404, "there is nothing at this address; the page is at /"});
  }

  void page(const Credentials& credentials, const httplib::Request& request, httplib::Response& response) {
    if (access_.is_first_visit(credentials)) {  // keeps the token out of the address bar and the history
      response.set_header("Set-Cookie", access_.cookie(port()));
      response.set_header("Cache-Control", "no-store");
      return response.set_redirect("/", 303);
    }
    asset("index.html", request, response);
  }

  void asset(const std::string& name, const httplib::Request& request, httplib::Response& response) {
    for (const PageAsset& one : page_assets()) {
      if (one.name != name) continue;
      const std::string tag = fmt::format("\"{:016x}\"", base::xxh3(std::as_bytes(std::span(one.text))));
      response.set_header("ETag", tag);
      response.set_header("Cache-Control", "no-cache");
      if (request.get_header_value("If-None-Match") == tag) {
        response.status = 304;
        return;
      }
      return response.set_content(one.text.data(), one.text.size(), type_of_asset(name));
    }
    answer(response, {404, "the page has no such part"});
  }

  void steer(const httplib::Request& request, httplib::Response& response) {
    if (!options_.control || request.path != "/api/control")
      return answer(response, {405, "nothing here can be changed; that needs: trireme train --watch --watch-control"});
    train::RunControl& control = *options_.control;
    const std::string wish = request.get_param_value("do");
    if (wish != "stop" && control.allows_only_stop())
      return answer(response, {409, "this strategy averages its replicas at a pause, which would change the weights"});
    if (wish == "pause")
      control.pause();
    else if (wish == "continue")
      control.go_on();
    else if (wish == "checkpoint")
      control.write_checkpoint();
    else if (wish == "stop")
      control.stop();
    else
      return answer(response, {400, "expected ?do= pause, continue, checkpoint or stop"});
    response.status = 204;
  }

  // What the run does about what was asked; empty where nothing can be.
  std::string steering() const {
    if (!options_.control) return {};
    const train::RunControl& control = *options_.control;
    if (control.wants_stop()) return "stopping";
    if (control.rests()) return control.wants_pause() ? "paused" : "going on";
    return control.wants_pause() ? "pausing" : control.allows_only_stop() ? "only stop" : "running";
  }

  void about_page(httplib::Response& response) {
    response.set_header("Cache-Control", "no-store");
    response.set_content(nlohmann::json{{"shown", options_.shown}, {"steering", steering()}}.dump(
                             -1, ' ', false, nlohmann::json::error_handler_t::replace),
                         "application/json");
  }

  void metrics(httplib::Response& response) {
    std::vector<PrometheusExporter::Run> runs;
    for (const auto& [name, folder] : hub_.folders())
      if (options_.shown.empty() || options_.shown == name) runs.push_back({name, folder});
    response.set_header("Cache-Control", "no-store");
    response.set_content(prometheus_.text(runs), kPrometheusType);
  }

  void live(const httplib::Request& request, httplib::Response& response) {
    if (request.method != "GET") return answer(response, {405, "only GET is answered here"});
    if (live_.fetch_add(1) >= kMostLive) {
      live_.fetch_sub(1);
      response.set_header("Retry-After", "5");
      return answer(response,
                    {503, fmt::format("{} browsers watch already; close one, or try again later", kMostLive)});
    }
    std::vector<std::string> runs;
    for (auto [run, end] = request.params.equal_range("run"); run != end && runs.size() < kMostRunsAtOnce; ++run)
      if (std::ranges::find(runs, run->second) == runs.end()) runs.push_back(run->second);
    struct Connection {
      Connection(FeedHub& hub, std::vector<std::string> names, std::string detail)
          : viewer(hub, names), session(std::move(names), std::move(detail)) {}
      FeedHub::Viewer viewer;
      LiveSession session;
      std::uint64_t version = 0;
      std::int64_t last_ns = 0;
      std::string steering;
    };
    auto connection = std::make_shared<Connection>(hub_, std::move(runs), request.get_param_value("detail"));
    response.set_header("Cache-Control", "no-store");
    response.set_chunked_content_provider(
        "text/event-stream",
        [this, connection](std::size_t, httplib::DataSink& sink) {
          std::string text;
          if (const std::string json = connection->session.next(hub_); !json.empty()) text = "data: " + json + "\n\n";
          if (std::string now = steering(); now != connection->steering) {
            text += fmt::format("data: {{\"steering\":\"{}\"}}\n\n", now);
            connection->steering = std::move(now);
          }
          if (text.empty() && base::seconds_since(connection->last_ns) > kKeepAliveSeconds) text = ": still here\n\n";
          if (!text.empty()) {
            connection->last_ns = base::now_ns();
            if (!sink.write(text.data(), text.size())) return false;
          }
          connection->version = hub_.wait_for_news(connection->version, 1);
          if (hub_.is_closed()) {
            if (const std::string json = connection->session.next(hub_); !json.empty()) send_event(sink, json);
            send_event(sink, R"({"ended":true})");
            sink.done();
            return true;
          }
          return sink.is_writable();
        },
        [this, connection](bool) { live_.fetch_sub(1); });
  }

  const PageOptions options_;
  const Access access_;
  const ListeningSocket socket_;
  FeedHub hub_;
  PrometheusExporter prometheus_;
  std::atomic<std::size_t> live_{0};
  std::atomic<std::thread::id> accepting_{};
  std::atomic<bool> has_ended_{false};
  std::mutex mutex_;       // guards the next two
  std::set<int> sockets_;  // of the connections
  bool ends_ = false;
  std::thread thread_;
};

PageServer::PageServer(PageOptions options) : http_(std::make_unique<Http>(std::move(options))) {}
PageServer::~PageServer() = default;
int PageServer::port() const { return http_->port(); }
std::string PageServer::url() const { return http_->url(); }
const std::string& PageServer::note() const { return http_->note(); }

}  // namespace trireme::watch
