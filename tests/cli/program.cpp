#include "cli/program.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <sstream>

#include "base/hash.h"

namespace trireme::cli_test {
namespace {

using Clock = std::chrono::steady_clock;
constexpr auto kDeadline = std::chrono::seconds(120);  // generous, for sanitizers on a busy machine

struct Pipe {
  int reading = -1, writing = -1;
  Pipe() {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) throw std::runtime_error("no pipe");
    reading = ends[0];
    writing = ends[1];
  }
};

[[noreturn]] void become(const std::string& binary, const Words& arguments, const Words& environment,
                         const fs::path& folder, int out, int err) {
  ::dup2(out, STDOUT_FILENO);
  ::dup2(err, STDERR_FILENO);
  if (::chdir(folder.c_str()) != 0) ::_exit(126);
  ::unsetenv("TRIREME_DATA");
  for (const std::string& setting : environment) {
    const std::size_t equals = setting.find('=');
    ::setenv(setting.substr(0, equals).c_str(), setting.c_str() + equals + 1, 1);
  }
  std::vector<char*> words{const_cast<char*>(binary.c_str())};
  for (const std::string& argument : arguments) words.push_back(const_cast<char*>(argument.c_str()));
  words.push_back(nullptr);
  ::execv(binary.c_str(), words.data());
  ::_exit(127);
}

// Appends what can be read; false at the end.
bool read_some(int descriptor, std::string& into) {
  std::array<char, 4096> buffer;
  const ssize_t got = ::read(descriptor, buffer.data(), buffer.size());
  if (got > 0) into.append(buffer.data(), static_cast<std::size_t>(got));
  return got > 0;
}

}  // namespace

std::string read(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

void write(const fs::path& path, const std::string& text) { std::ofstream(path, std::ios::binary) << text; }

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

Words operator+(Words words, const Words& more) {
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

Json last_json(const Outcome& outcome) {
  const auto lines = lines_of(outcome.out);
  return lines.empty() ? Json() : Json::parse(lines.back(), nullptr, false);
}

void Program::SetUp() {
  const char* binary = std::getenv("TRIREME_BINARY");
  if (!binary) GTEST_SKIP() << "TRIREME_BINARY does not name the program";
  binary_ = binary;
  std::string pattern = (fs::temp_directory_path() / "trireme-cli-XXXXXX").string();
  ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
  folder_ = pattern;
}

void Program::TearDown() {
  std::error_code ignored;
  if (!folder_.empty()) fs::remove_all(folder_, ignored);
}

Outcome Program::run(const Words& arguments, const Words& environment, int signal) const {
  Pipe out, err;
  const pid_t child = ::fork();
  if (child == 0) become(binary_, arguments, environment, folder_, out.writing, err.writing);
  ::close(out.writing);
  ::close(err.writing);

  Outcome outcome;
  const auto end = Clock::now() + kDeadline;
  std::array<pollfd, 2> ends{{{out.reading, POLLIN, 0}, {err.reading, POLLIN, 0}}};
  const std::array<std::string*, 2> texts{&outcome.out, &outcome.err};
  int open = 2;
  while (open > 0) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(end - Clock::now()).count();
    if (left <= 0 || ::poll(ends.data(), ends.size(), static_cast<int>(left)) == 0) {
      outcome.late = true;
      ::kill(child, SIGKILL);
      break;
    }
    for (std::size_t i = 0; i < ends.size(); ++i) {
      if (ends[i].fd < 0 || ends[i].revents == 0 || read_some(ends[i].fd, *texts[i])) continue;
      ends[i].fd = -1;
      --open;
    }
    if (signal != 0 && outcome.out.find('\n') != std::string::npos) {
      ::kill(child, signal);
      signal = 0;
    }
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  ::close(out.reading);
  ::close(err.reading);
  outcome.code = WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
  EXPECT_FALSE(outcome.late) << "still running after the deadline\n" << outcome.out << outcome.err;
  return outcome;
}

Json Program::trained(const Words& arguments) const {
  const Outcome outcome = run(Words{"train"} + arguments + Words{"--json"});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  Json json = last_json(outcome);
  EXPECT_TRUE(json.is_object()) << outcome.out;
  return json;
}

void Program::expect_sentence(const Outcome& outcome, int code, const Words& sayings) {
  EXPECT_EQ(outcome.code, code) << outcome.out << outcome.err;
  const auto lines = lines_of(outcome.err);
  ASSERT_EQ(lines.size(), 1u) << outcome.err;
  EXPECT_TRUE(outcome.err.ends_with('\n'));
  EXPECT_TRUE(lines[0].starts_with("trireme: ")) << lines[0];
  EXPECT_EQ(lines[0].find("internal error"), std::string::npos) << lines[0];
  for (const std::string& saying : sayings)
    EXPECT_NE(lines[0].find(saying), std::string::npos) << "'" << saying << "' is not in: " << lines[0];
}

void Program::expect_refused(const Words& arguments, const Words& sayings) const {
  const auto before = snapshot();
  const Outcome outcome = run(arguments);
  expect_sentence(outcome, 2, sayings);
  EXPECT_EQ(outcome.out, "");
  EXPECT_EQ(snapshot(), before);
}

std::vector<std::string> Program::snapshot() const {
  std::vector<std::string> all;
  for (const auto& entry : fs::recursive_directory_iterator(folder_)) {
    std::string line = entry.path().string();
    if (entry.is_regular_file()) {
      const std::string content = read(entry.path());
      line += fmt::format(" {:016x}", base::xxh3(std::as_bytes(std::span(content))));
    }
    all.push_back(std::move(line));
  }
  std::sort(all.begin(), all.end());
  return all;
}

}  // namespace trireme::cli_test
