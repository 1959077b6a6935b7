#include "comm/membership/member.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <fstream>
#include <nlohmann/json.hpp>

#include "comm/transport/tcp/frame.h"

namespace trireme::comm {
namespace {

using Json = nlohmann::json;

Json member_json(const Member& member) {
  return {{"rank", member.rank},           {"process", member.process},          {"host", member.host},
          {"host_mark", member.host_mark}, {"address", to_text(member.address)}, {"local", to_text(member.local)}};
}

Member member_of(const Json& json) {
  Member member;
  member.rank = json.at("rank");
  member.process = json.at("process");
  member.host = json.at("host");
  member.host_mark = json.at("host_mark");
  member.address = parse_address(json.at("address").get<std::string>());
  member.local = parse_address(json.at("local").get<std::string>());
  return member;
}

template <class Read>
auto read_json(std::string_view text, const Read& read) {
  try {
    return read(Json::parse(text));
  } catch (const std::exception& error) {
    throw FrameError(fmt::format("a message that cannot be read: {}", error.what()));
  }
}

}  // namespace

std::string to_json(const Hello& hello) {
  return Json{{"world", hello.world}, {"program", hello.program}, {"member", member_json(hello.member)}}.dump();
}

Hello hello_from_json(std::string_view text) {
  return read_json(text, [](const Json& json) {
    return Hello{json.at("world"), json.at("program"), member_of(json.at("member"))};
  });
}

std::string to_json(const ProcessExit& ending) {
  return Json{{"ended", ending.process}, {"host", ending.host}, {"how", ending.how}}.dump();
}

std::optional<ProcessExit> ending_from_json(std::string_view text) {
  return read_json(text, [](const Json& json) -> std::optional<ProcessExit> {
    if (!json.contains("ended")) return std::nullopt;
    return ProcessExit{json.at("ended"), json.at("host"), json.at("how")};
  });
}

std::string to_json(const std::vector<Member>& members) {
  Json all = Json::array();
  for (const Member& member : members) all.push_back(member_json(member));
  return all.dump();
}

std::vector<Member> members_from_json(std::string_view text) {
  return read_json(text, [](const Json& json) {
    std::vector<Member> members;
    for (const Json& one : json) members.push_back(member_of(one));
    return members;
  });
}

std::string describe(const Member& member) {
  return fmt::format("rank {} (process {} on {})", member.rank, member.process, member.host);
}

// Processes can share memory if they run under one boot of one machine and in one network namespace, in which they find
// each other's local sockets.
Member this_process() {
  Member member;
  member.process = getpid();
  std::array<char, 256> name{};
  gethostname(name.data(), name.size() - 1);
  member.host = name.data();
  std::string boot;
  std::getline(std::ifstream("/proc/sys/kernel/random/boot_id"), boot);
  struct stat network {};
  stat("/proc/self/ns/net", &network);
  member.host_mark = fmt::format("{}/{}", boot, network.st_ino);
  return member;
}

}  // namespace trireme::comm
