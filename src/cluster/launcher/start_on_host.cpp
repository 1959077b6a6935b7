#include "cluster/launcher/start_on_host.h"

#include <fmt/format.h>
#include <netdb.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <random>

#include "base/error.h"
#include "base/text/text.h"

namespace trireme::cluster {
namespace {

// For a rendezvous on another host, where we cannot ask for an unused port: a random one of these.
constexpr int kFirstPort = 20000, kLastPort = 59999;
constexpr const char* kLoopback = "127.0.0.1";
// An address reserved for documentation, which no host has: packets to it take the default route.
constexpr const char* kFarAway = "192.0.2.1";

// "user@host" -> "host".
std::string without_user(const std::string& host) { return host.substr(host.find('@') + 1); }

// The address of this host on the route to another; empty when there is no route or no such host. Connects a datagram
// socket, which sends nothing.
std::string own_address_towards(const std::string& host) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_DGRAM;
  addrinfo* found = nullptr;
  if (getaddrinfo(host.c_str(), "9", &hints, &found) != 0) return "";
  const std::unique_ptr<addrinfo, decltype(&freeaddrinfo)> owner(found, freeaddrinfo);
  for (const addrinfo* one = found; one != nullptr; one = one->ai_next) {
    const comm::Socket socket(::socket(one->ai_family, SOCK_DGRAM | SOCK_CLOEXEC, 0));
    if (socket.is_open() && ::connect(socket.descriptor(), one->ai_addr, one->ai_addrlen) == 0)
      return comm::own_host(socket);
  }
  return "";
}

std::string own_name() {
  std::array<char, 256> name{};
  ::gethostname(name.data(), name.size() - 1);
  return name.data();
}

bool is_here_alone(const Job& job) { return std::all_of(job.hosts.begin(), job.hosts.end(), is_here); }

// The address by which the first of the other hosts reaches this one. When that host's name is known only to ssh (an
// alias in its configuration), takes the address on the default route.
std::string own_address(const Job& job) {
  if (is_here_alone(job)) return kLoopback;
  const auto other = std::find_if_not(job.hosts.begin(), job.hosts.end(), is_here);
  for (const std::string& towards : {without_user(*other), std::string(kFarAway)})
    if (std::string address = own_address_towards(towards); !address.empty()) return address;
  return own_name();
}

}  // namespace

bool is_here(const std::string& host) { return host.empty() || host == "localhost"; }

std::string quoted(const std::string& word) {
  const auto is_plain = [](unsigned char c) { return std::isalnum(c) != 0 || std::strchr("_-+./:=,@%", c) != nullptr; };
  if (!word.empty() && std::all_of(word.begin(), word.end(), is_plain)) return word;
  std::string text = "'";
  for (const char c : word) {
    if (c == '\'')
      text += "'\\''";
    else
      text += c;
  }
  return text + "'";
}

std::vector<std::string> ssh_command(const Job& job, const std::string& host) {
  std::vector<std::string> words;
  for (const std::string& word : base::split(job.ssh, ' '))
    if (!word.empty()) words.push_back(word);
  if (words.empty()) base::user_error("the ssh command is empty; expected one like \"ssh -p 2222\"");
  // The user's options come first, and ssh takes the first value of an option. -T: no remote terminal, which would echo
  // the token. ServerAliveInterval: firewalls between the hosts must not drop an idle connection.
  const std::string connect_seconds = std::to_string(std::max(1, static_cast<int>(job.start_seconds / 2)));
  for (const char* option : {"-T", "-oBatchMode=yes", "-oServerAliveInterval=20"}) words.emplace_back(option);
  words.push_back("-oConnectTimeout=" + connect_seconds);
  words.push_back(host);
  std::string command = fmt::format("cd {} || exit 127; TRIREME_LAUNCH_INFO=stdin", quoted(job.directory));
  for (const std::string& word : job.command) command += " " + quoted(word);
  words.push_back("exec sh -c " + quoted(command + "; exit $?"));
  return words;
}

std::unique_ptr<base::ChildProcess> start_on_host(const Job& job, const std::string& host,
                                                  const std::vector<std::string>& environment, bool inherits_output) {
  base::ChildCommand command;
  command.arguments = host.empty() ? job.command : ssh_command(job, host);
  command.environment = environment;
  if (host.empty()) command.environment.insert(command.environment.begin(), "TRIREME_LAUNCH_INFO=stdin");
  if (inherits_output) command.output = command.error = base::ChildOutput::inherit;
  return std::make_unique<base::ChildProcess>(command);
}

comm::Address rendezvous_of(const Job& job) {
  const std::string first = job.hosts.empty() ? "" : job.hosts.front();
  if (is_here(first)) return {own_address(job), job.port != 0 ? job.port : comm::unused_port()};
  std::random_device random;
  const int port = job.port != 0 ? job.port : std::uniform_int_distribution<int>(kFirstPort, kLastPort)(random);
  return {without_user(first), port};
}

// With several hosts rank 0 listens on all its addresses: hosts on different networks may reach it by different ones,
// and its own name often resolves to the loopback address there. An empty host covers IPv4 only.
comm::Address held_rendezvous(const Job& job, const comm::Address& rendezvous) {
  const bool is_ipv6 = rendezvous.host.find(':') != std::string::npos;
  return is_here_alone(job) || is_ipv6 ? rendezvous : comm::Address{"", rendezvous.port};
}

}  // namespace trireme::cluster
