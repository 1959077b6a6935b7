#include "observe/trace/trace_file.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>

#include "base/error.h"

namespace trireme::observe {
namespace {

constexpr std::string_view kOpening = "{\"displayTimeUnit\":\"ms\",\"traceEvents\":[\n";
constexpr std::size_t kPiece = std::size_t{256} << 10;  // of one write

}  // namespace

TraceFile::TraceFile(const base::fs::path& path, bool goes_on, TraceLimits limits) : path_(path), limits_(limits) {
  descriptor_ = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
  if (descriptor_ < 0) base::run_error("cannot write {}: {}", path.string(), std::strerror(errno));
  if (goes_on) open_earlier();
  if (settled_ == 0) {
    cut_to(0);
    write_at(0, std::string(kOpening) + closing());
    settled_ = kOpening.size();
  }
  end_ = settled_;
  is_first_ = settled_is_empty_;
  end_us_ = earlier_end_us_;
  cut_to(settled_);
  write_at(end_, closing());
}

TraceFile::~TraceFile() { close(descriptor_); }

// Line by line: as a tree of JSON values the file would take many times its size. It ends before the first line that is
// damaged.
void TraceFile::open_earlier() {
  using Json = nlohmann::json;
  std::ifstream in(path_);
  std::string line;
  if (!std::getline(in, line) || in.eof() || line + "\n" != kOpening) return;
  settled_ = kOpening.size();
  std::uint64_t at = settled_;
  bool follows_comma = true;
  while (std::getline(in, line)) try {
      const std::size_t bytes = line.size() + 1;
      if (line.starts_with("]")) {
        const Json other = Json::parse("{" + line.substr(line.find('"'))).at("otherData");
        earlier_left_out_ = other.at("spans_left_out");
        return;
      }
      const std::string_view event = std::string_view(line).substr(0, line.size() - (line.ends_with(",") ? 1 : 0));
      if (!line.empty()) {
        if (!follows_comma || line.find('\0') != std::string::npos) return;
        follows_comma = line.ends_with(",");
        const Json json = Json::parse(event);
        if (json.contains("ts"))
          earlier_end_us_ = std::max(earlier_end_us_, json["ts"].get<double>() + json.value("dur", 0.0));
        settled_ = at + event.size();
        settled_is_empty_ = false;
      }
      at += bytes;
    } catch (const std::exception&) {  // the process was killed while it wrote this line
      return;
    }
}

std::string TraceFile::closing() const {
  return fmt::format("\n],\"otherData\":{{\"spans_left_out\":{},\"end_us\":{:.3f}}}}}\n",
                     earlier_left_out_ + left_out_ + left_out_here_, end_us_);
}

void TraceFile::add(std::string_view event, double end_us, bool stays) {
  const std::uint64_t bytes = event.size() + 2;
  if (stays && limits_.bytes > 0 && settled_ + staying_bytes_ + bytes + limits_.recent_bytes > limits_.bytes)
    stays = false, ++left_out_here_;
  if (!stays && recent_bytes_ + bytes > limits_.recent_bytes) trim(end_us_, limits_.recent_bytes / 2);
  (stays ? staying_bytes_ : recent_bytes_) += bytes;
  if (!is_first_ || !pending_.empty()) pending_ += ",\n";
  pending_ += event;
  end_us_ = std::max(end_us_, end_us);
  after_.push_back({std::string(event), end_us, stays});
}

// A write that fails half-way (a full disk) leaves the file as it was before.
void TraceFile::write() {
  if (pending_.empty()) return;
  const std::uint64_t before = end_;
  const std::string close_before = closing();
  try {
    for (std::size_t done = 0; done < pending_.size();) {
      // Whole events only.
      std::size_t next = std::min(done + kPiece, pending_.size());
      if (next < pending_.size()) next = std::min(pending_.find(",\n", next), pending_.size());
      const std::string_view piece = std::string_view(pending_).substr(done, next - done);
      write_at(end_, std::string(piece) + closing());
      end_ += piece.size();
      done = next;
      is_first_ = false;
    }
  } catch (...) {
    end_ = before;
    if (ftruncate(descriptor_, static_cast<off_t>(end_)) == 0)
      (void)!pwrite(descriptor_, close_before.data(), close_before.size(), static_cast<off_t>(end_));
    throw;
  }
  pending_.clear();
}

void TraceFile::trim(double now_us, std::uint64_t most_bytes) {
  write();
  const double oldest_us = now_us - 1e6 * limits_.recent_seconds;
  std::deque<Recent> rest;
  std::string staying;
  for (Recent& one : after_)
    if (one.stays)
      staying += (settled_is_empty_ && staying.empty() ? "" : ",\n") + one.event;
    else if (one.end_us >= oldest_us)
      rest.push_back(std::move(one));
  std::uint64_t bytes = 0;
  const auto first = std::find_if(rest.rbegin(), rest.rend(), [&](const Recent& one) {
    bytes += one.event.size() + 2;
    return bytes > most_bytes;
  });
  rest.erase(rest.begin(), first.base());
  // A cut file is complete again after one more write; what comes after is appended as usual.
  cut_to(settled_);
  end_ = settled_;
  pending_ = std::move(staying);
  is_first_ = settled_is_empty_;
  if (pending_.empty()) write_at(end_, closing());
  const bool has_staying = !pending_.empty();
  write();
  settled_ = end_;
  if (has_staying) settled_is_empty_ = false;
  after_ = std::move(rest);
  recent_bytes_ = staying_bytes_ = 0;
  for (const Recent& one : after_) {
    recent_bytes_ += one.event.size() + 2;
    if (!is_first_ || !pending_.empty()) pending_ += ",\n";
    pending_ += one.event;
  }
  write();
}

void TraceFile::write_at(std::uint64_t offset, std::string_view text) {
  while (!text.empty()) {
    const ssize_t count = pwrite(descriptor_, text.data(), text.size(), static_cast<off_t>(offset));
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) base::run_error("cannot write {}: {}", path_.string(), std::strerror(count < 0 ? errno : ENOSPC));
    text.remove_prefix(static_cast<std::size_t>(count));
    offset += static_cast<std::uint64_t>(count);
  }
}

void TraceFile::cut_to(std::uint64_t bytes) {
  if (ftruncate(descriptor_, static_cast<off_t>(bytes)) != 0)
    base::run_error("cannot write {}: {}", path_.string(), std::strerror(errno));
}

}  // namespace trireme::observe
