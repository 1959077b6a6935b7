#include "peer/own_run.h"

#include "base/error.h"
#include "base/system/beside_program.h"
#include "peer/answering_process.h"

namespace trireme::peer {
namespace {

constexpr double kDeadlineSeconds = 24 * 3600;

std::string last_line(const std::string& text) {
  const std::size_t end = text.find_last_not_of('\n');
  if (end == std::string::npos) return "";
  const std::size_t begin = text.find_last_of('\n', end) + 1;
  return text.substr(begin, end + 1 - begin);
}

}  // namespace

std::string run_train(const TrainOptions& options, const std::vector<int>& cpus) {
  std::vector<std::string> words{base::this_program(), "train", "--json", "--quiet"};
  for (const auto& [name, value] : options) words.insert(words.end(), {"--" + name, value});
  AnsweringProcess child("trireme train", words, cpus);
  if (const int code = child.finish(kDeadlineSeconds); code != 0)
    base::run_error("trireme train ended with code {}: {}", code, child.last_words());
  return last_line(child.output());
}

}  // namespace trireme::peer
