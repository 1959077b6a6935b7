#include "peer/answering_process.h"

#include "base/error.h"
#include "base/system/clock.h"
#include "base/text/text.h"

namespace trireme::peer {
namespace {

constexpr std::size_t kLastLines = 3;

}  // namespace

AnsweringProcess::AnsweringProcess(std::string title, std::vector<std::string> arguments, std::vector<int> cpus)
    : title_(std::move(title)),
      process_({.arguments = std::move(arguments), .cpus = std::move(cpus), .error = base::ChildOutput::memory}) {}

std::string AnsweringProcess::ask(std::string_view line, double deadline_seconds) {
  const std::int64_t deadline = base::in_seconds(deadline_seconds);
  const bool is_sent = process_.write(std::string(line) + "\n", deadline);
  if (is_sent)
    if (auto answer = process_.read_line(deadline)) return *std::move(answer);
  if (base::now_ns() >= deadline) fail(fmt::format("did not answer within {:.0f} seconds", deadline_seconds));
  fail(is_sent ? "ended before it answered" : "ended before it was asked");
}

int AnsweringProcess::finish(double deadline_seconds) {
  process_.close_input();
  if (process_.wait(base::in_seconds(deadline_seconds))) return process_.exit_code();
  process_.kill();
  return -1;
}

void AnsweringProcess::fail(const std::string& how) {
  process_.kill();
  const bool never_ran = process_.exit_code() == base::ChildProcess::kCannotStart;
  const std::string words = last_words();
  base::run_error("{} {}{}", title_, never_ran ? "could not be started" : how,
                  words.empty() ? "" : "; it said: " + words);
}

std::vector<std::string> AnsweringProcess::error_lines() const {
  std::vector<std::string> lines;
  for (const std::string& line : base::split(process_.error_text(), '\n'))
    if (line.find_first_not_of(" \t\r") != std::string::npos) lines.push_back(line);
  return lines;
}

std::string AnsweringProcess::last_words() const {
  std::vector<std::string> lines = error_lines();
  if (lines.size() > kLastLines) lines.erase(lines.begin(), lines.end() - kLastLines);
  return base::join(lines, " / ");
}

}  // namespace trireme::peer
