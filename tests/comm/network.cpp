#include "comm/network.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <linux/if_packet.h>
#include <net/ethernet.h>
#include <net/if.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <random>
#include <stdexcept>

#include "base/system/clock.h"

namespace trireme::comm {
namespace {

// As from a real network card, several packets of a stream come and go in one piece; before each lies a header of so
// many bytes (virtio_net_hdr), then Ethernet's.
constexpr std::size_t kHeader = 10, kEthernet = 14, kMostPiece = 65536 + kEthernet;
constexpr const char* kOwnNamespace = "/proc/self/ns/net";

int checked(int result, const char* what) {
  if (result < 0) throw std::runtime_error(std::string(what) + ": " + std::strerror(errno));
  return result;
}

void run_command(const std::string& command) {
  if (std::system((command + " > /dev/null 2>&1").c_str()) != 0) throw std::runtime_error("'" + command + "' failed");
}

std::string address_of(int host) { return fmt::format("10.77.0.{}", host + 1); }
std::string port_name(int host) { return fmt::format("port{}", host); }

// In the namespace of the caller; the other end of the cable is the switch's. Nobody asks for hardware addresses: the
// switch knows them.
void make_device(int host, pid_t switch_process, double bits_per_second) {
  run_command("ip link set lo up");
  run_command(fmt::format("ip link add wire type veth peer name {} netns {}", port_name(host), switch_process));
  run_command(fmt::format("ip link set wire address 02:00:00:00:00:{:02x} arp off up", host + 1));
  run_command(fmt::format("ip address add {}/24 dev wire", address_of(host)));
  run_command(fmt::format("tc qdisc add dev wire root tbf rate {:.0f}bit burst 128kb limit 1mb", bits_per_second));
}

// The switch's end of a host's cable.
Socket open_port(int host) {
  const std::string name = port_name(host);
  run_command(fmt::format("ip link set {} up", name));
  Socket port(checked(socket(AF_PACKET, SOCK_RAW | SOCK_NONBLOCK | SOCK_CLOEXEC, 0), "a packet socket"));
  const int yes = 1, buffer = 8 << 20;
  checked(setsockopt(port.descriptor(), SOL_PACKET, PACKET_VNET_HDR, &yes, sizeof yes), "packets in one piece");
  setsockopt(port.descriptor(), SOL_PACKET, PACKET_IGNORE_OUTGOING, &yes, sizeof yes);
  setsockopt(port.descriptor(), SOL_SOCKET, SO_RCVBUFFORCE, &buffer, sizeof buffer);
  setsockopt(port.descriptor(), SOL_SOCKET, SO_SNDBUFFORCE, &buffer, sizeof buffer);
  sockaddr_ll at{};
  at.sll_family = AF_PACKET;
  at.sll_protocol = htons(ETH_P_IP);
  at.sll_ifindex = static_cast<int>(checked(static_cast<int>(if_nametoindex(name.c_str())), "a port"));
  checked(bind(port.descriptor(), reinterpret_cast<const sockaddr*>(&at), sizeof at), "binding a port");
  return port;
}

struct Packet {
  std::vector<char> bytes;
  std::size_t to = 0;
  std::int64_t due_ns = 0;
};

class Switch {
 public:
  Switch(std::vector<Socket> devices, Socket orders, const Network::Shape& shape)
      : devices_(std::move(devices)), orders_(std::move(orders)), shape_(shape), ports_(devices_.size()) {}

  // Until nobody can give orders any more.
  void run() {
    prctl(PR_SET_TIMERSLACK, 1000);
    for (;;) {
      std::vector<pollfd> polls{{orders_.descriptor(), POLLIN, 0}};
      for (const Socket& device : devices_) polls.push_back({device.descriptor(), POLLIN, 0});
      const std::int64_t until_ns = hand_over() - base::now_ns();
      const std::int64_t wait_ns = std::clamp<std::int64_t>(until_ns, 0, 1'000'000'000);
      const timespec wait{wait_ns / 1'000'000'000, wait_ns % 1'000'000'000};
      ppoll(polls.data(), polls.size(), &wait, nullptr);
      if (polls[0].revents != 0) {
        char host = 0;
        if (read(orders_.descriptor(), &host, 1) != 1) return;
        ports_[static_cast<std::size_t>(host)].is_cut ^= true;
      }
      for (std::size_t host = 0; host < devices_.size(); ++host) take_in(host);
    }
  }

 private:
  struct Port {
    bool is_cut = false;
    std::deque<Packet> on_way{};  // from this host
  };

  void take_in(std::size_t host) {
    std::array<char, kHeader + kMostPiece> buffer;
    for (;;) {
      const ssize_t count = read(devices_[host].descriptor(), buffer.data(), buffer.size());
      if (count < static_cast<ssize_t>(kHeader + kEthernet) + 20) return;
      char* packet = buffer.data() + kHeader;
      const unsigned char to_byte = static_cast<unsigned char>(packet[kEthernet + 19]);  // of IPv4's destination
      const std::size_t to = static_cast<std::size_t>(to_byte) - 1;
      if (to >= ports_.size() || ports_[host].is_cut || ports_[to].is_cut || chance_(random_) < shape_.loss) continue;
      const std::array<char, 6> hardware{2, 0, 0, 0, 0, static_cast<char>(to_byte)};
      std::copy(hardware.begin(), hardware.end(), packet);
      ports_[host].on_way.push_back({{buffer.data(), buffer.data() + count},
                                     to,
                                     base::now_ns() + static_cast<std::int64_t>(1e9 * shape_.delay_seconds)});
    }
  }

  // What is due; returns when the next will be.
  std::int64_t hand_over() {
    std::int64_t next = base::now_ns() + 1'000'000'000;
    for (Port& port : ports_) {
      while (!port.on_way.empty() && port.on_way.front().due_ns <= base::now_ns()) {
        const Packet& packet = port.on_way.front();
        // A device that is down takes none, which is a loss like any other.
        [[maybe_unused]] const ssize_t written =
            write(devices_[packet.to].descriptor(), packet.bytes.data(), packet.bytes.size());
        port.on_way.pop_front();
      }
      if (!port.on_way.empty()) next = std::min(next, port.on_way.front().due_ns);
    }
    return next;
  }

  std::vector<Socket> devices_;
  Socket orders_;
  Network::Shape shape_;
  std::vector<Port> ports_;
  std::mt19937 random_{1};
  std::uniform_real_distribution<double> chance_;
};

}  // namespace

std::string Network::why_not() {
  const pid_t child = fork();
  if (child == 0) {
    try {
      const Network trial(1, {});
    } catch (const std::exception&) {
      _exit(1);
    }
    _exit(0);
  }
  int status = 1;
  waitpid(child, &status, 0);
  return status == 0 ? "" : "hosts need the right to make network namespaces, iproute2, and a kernel with veth and tbf";
}

Network::Network(int hosts, const Shape& shape) {
  std::array<int, 2> to_switch{}, from_switch{};
  checked(pipe2(to_switch.data(), O_CLOEXEC), "a pipe");
  checked(pipe2(from_switch.data(), O_CLOEXEC), "a pipe");
  orders_ = Socket(to_switch[1]);
  const Socket answers(from_switch[0]);
  const auto one_byte = [](int from) {
    char word = 0;
    return read(from, &word, 1) == 1;
  };
  const auto say = [](int to) { return write(to, "x", 1) == 1; };
  switch_ = checked(fork(), "a process for the switch");
  if (switch_ == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    close(to_switch[1]);
    Socket orders(to_switch[0]);
    std::vector<Socket> ports;
    // A namespace of its own; then the cables are made; then its ends of them are opened.
    if (unshare(CLONE_NEWNET) != 0 || !say(from_switch[1]) || !one_byte(orders.descriptor())) _exit(1);
    for (int host = 0; host < hosts; ++host) ports.push_back(open_port(host));
    if (!say(from_switch[1])) _exit(1);
    Switch(std::move(ports), std::move(orders), shape).run();
    _exit(0);
  }
  close(to_switch[0]);
  close(from_switch[1]);
  if (!one_byte(answers.descriptor())) throw std::runtime_error("no namespace for the switch");
  const Socket home(checked(open(kOwnNamespace, O_RDONLY | O_CLOEXEC), kOwnNamespace));
  for (int host = 0; host < hosts; ++host) {
    checked(unshare(CLONE_NEWNET), "a network namespace");
    namespaces_.emplace_back(checked(open(kOwnNamespace, O_RDONLY | O_CLOEXEC), kOwnNamespace));
    make_device(host, switch_, shape.bits_per_second);
  }
  checked(setns(home.descriptor(), CLONE_NEWNET), "going home");
  if (!say(orders_.descriptor()) || !one_byte(answers.descriptor())) throw std::runtime_error("the switch is gone");
}

Network::~Network() {
  kill(switch_, SIGKILL);
  waitpid(switch_, nullptr, 0);
}

std::string Network::address(int host) const { return address_of(host); }

void Network::enter(int host) const {
  checked(setns(namespaces_[static_cast<std::size_t>(host)].descriptor(), CLONE_NEWNET), "entering a namespace");
}

void Network::cut(int host) const {
  const char number = static_cast<char>(host);
  checked(static_cast<int>(write(orders_.descriptor(), &number, 1)), "cutting a cable");
}

}  // namespace trireme::comm
