#include "fuzz/trace_targets.h"

#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include "base/error.h"
#include "base/hash.h"
#include "observe/trace/span_chunk.h"
#include "observe/trace/trace_writer.h"
#include "support/temporary_folder.h"
#include "watch/trace/critical_path.h"

namespace trireme::fuzz {
namespace {

using Span = std::span<const std::uint8_t>;

constexpr std::size_t kHashBytes = 8;

const base::fs::path& trace_folder() {
  static const test::TemporaryFolder folder;
  return folder.path();
}

Bytes trace_bytes(const std::string& text) { return Bytes(text.begin(), text.end()); }

}  // namespace

void read_spans(Span bytes) {
  std::string packed(bytes.begin(), bytes.end());
  const std::uint64_t hash = base::xxh3(std::as_bytes(std::span(packed)));
  packed.append(reinterpret_cast<const char*>(&hash), sizeof hash);
  try {
    const observe::SpanChunk chunk = observe::unpack_spans(packed);
    base::check(observe::pack(chunk).size() == packed.size(), "another size");
    observe::TraceWriter writer(trace_folder(), false, {});
    writer.add(chunk);
    writer.finish();
  } catch (const base::Error& error) {
    if (std::string(error.what()).find("damaged") == std::string::npos) throw;
  }
}

std::vector<Bytes> span_seeds() {
  observe::SpanChunk chunk;
  chunk.process = 2;
  chunk.name = "worker 2";
  chunk.texts = {"", "steps", "conv1"};
  chunk.lanes = {{0, 1}};
  chunk.clock = {1000, -5, 1e-4, 70};
  chunk.spans = {
      {0, 1, {.start_ns = 10, .end_ns = 20, .step = 1}},
      {0, 0, {.start_ns = 10, .end_ns = 20, .arrow_out = 7, .kind = observe::SpanKind::reduce, .detail = 2}}};
  const std::string packed = observe::pack(chunk);
  return {trace_bytes(packed.substr(0, packed.size() - kHashBytes))};
}

void read_trace(Span bytes) {
  const base::fs::path path = trace_folder() / "trace.json";
  {
    std::ofstream out(path, std::ios::binary | std::ios::trunc);
    out.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  }
  try {
    (void)watch::path_lines(watch::critical_path_of(watch::read_trace(path)));
  } catch (const base::Error& error) {
    if (error.kind() != base::ErrorKind::user) throw;
  }
  {
    observe::TraceFile file(path, true, {});
    file.add(R"({"name":"step","ph":"X","pid":0,"tid":0,"ts":0,"dur":1})", 1, true);
    file.write();
  }
  base::check(nlohmann::json::accept(base::read_text(path)), "what goes on with a trace is no JSON");
}

std::vector<Bytes> trace_seeds() {
  const base::fs::path path = trace_folder() / "trace.json";
  {
    observe::TraceWriter writer(trace_folder(), false, {});
    observe::SpanChunk chunk;
    chunk.name = "worker 0";
    for (const observe::SpanKind kind :
         {observe::SpanKind::step, observe::SpanKind::backward, observe::SpanKind::reduce})
      chunk.spans.push_back({0, 1, {.start_ns = 10, .end_ns = 20, .step = 1, .kind = kind}});
    writer.add(chunk);
    writer.add_mark("started", 5, "{}");
    writer.finish();
  }
  return {trace_bytes(base::read_text(path))};
}

}  // namespace trireme::fuzz
