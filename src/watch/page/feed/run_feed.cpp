#include "watch/page/feed/run_feed.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <array>
#include <cmath>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "train/run_folder/run_folder.h"
#include "watch/page/feed/flat_json.h"

namespace trireme::watch {
namespace {

namespace fs = base::fs;
using DocumentJson = nlohmann::json;

constexpr std::int64_t kLargestDocument = 4 << 20;
constexpr std::size_t kResourceHistory = 1024;

// The text of a file that holds one JSON value; empty if it is not there, not whole or too large.
std::string document_text(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::string text((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
  if (!DocumentJson::accept(text)) return {};
  std::erase(text, '\n');  // a line break in a string would be escaped
  std::erase(text, '\r');
  return text;
}

}  // namespace

RunFeed::RunFeed(base::fs::path folder)
    : folder_(std::move(folder)),
      metrics_(data_),
      metrics_tail_(folder_ / "metrics.jsonl"),
      resources_tail_(folder_ / "resources.jsonl") {}

bool RunFeed::poll(std::size_t most_bytes) {
  read_document("run.json", "run");
  read_document("summary.json", "summary");
  read_document("trace_now.json", "trace");
  read_document("profile.json", "profile");
  bool has_more = metrics_tail_.read(
      {[&] { metrics_.start_again(); }, [&](std::string_view line) { metrics_.line(line); }}, most_bytes);
  metrics_.settle();
  has_more |= resources_tail_.read({[&] {
                                      data_.forget("resources/");
                                      data_.forget("host/");
                                    },
                                    [&](std::string_view line) { resource(line); }},
                                   most_bytes);
  read_state();
  return has_more;
}

void RunFeed::read_document(const char* file, const char* section) {
  struct stat status {};
  const fs::path path = folder_ / file;
  if (::stat(path.c_str(), &status) != 0 || !S_ISREG(status.st_mode)) {
    if (documents_.erase(file) > 0) data_.set_section(section, "null");
    return;
  }
  const std::string now =
      fmt::format("{}.{} {} {}", status.st_mtim.tv_sec, status.st_mtim.tv_nsec, status.st_size, status.st_ino);
  std::string& before = documents_[file];
  if (before == now || status.st_size > kLargestDocument) return;
  before = now;
  if (std::string text = document_text(path); !text.empty()) data_.set_section(section, std::move(text));
}

// One table per process, and per host where lines have no rank. The columns are the numbers of its first line.
void RunFeed::resource(std::string_view line) {
  std::string host, rank;
  std::vector<SeriesColumn> columns;
  std::vector<double> values;
  const bool is_whole = for_each_member(line, [&](std::string_view name, std::string_view value) {
    if (name == "host") host = plain_text_of(value);
    if (name == "rank") rank = value;
    if (name == "host" || name == "rank") return;
    const double number = number_of(value);
    if (std::isnan(number) && value != "null") return;
    const bool is_position = name == "time" || name == "seconds";
    columns.push_back({std::string(name), is_position ? Joining::last : Joining::mean});
    values.push_back(number);
  });
  if (!is_whole || host.empty() || columns.empty() || host.size() > 300 || rank.size() > 20 || columns.size() > 200)
    return;
  const std::string name = "resources/" + host + "/" + rank;
  if (rank == "null" && DocumentJson::accept(line)) data_.set_section("host/" + host, std::string(line));
  const SeriesTable& table = data_.table(name, columns, kResourceHistory);
  std::vector<double> row(table.columns().size(), std::numeric_limits<double>::quiet_NaN());
  for (std::size_t c = 0; c < row.size(); ++c)
    for (std::size_t i = 0; i < columns.size(); ++i)
      if (columns[i].name == table.columns()[c].name) row[c] = values[i];
  data_.add_row(name, columns, row, kResourceHistory);
}

void RunFeed::read_state() {
  std::error_code ignored;
  const char* state = fs::exists(folder_ / "summary.json", ignored) ? "finished" : "interrupted";
  try {
    if (train::RunFolder::open(folder_.string()).is_locked()) state = "running";
  } catch (const base::Error&) {
    state = "unreadable";
  }
  data_.set_section("state", fmt::format("\"{}\"", state));
}

}  // namespace trireme::watch
