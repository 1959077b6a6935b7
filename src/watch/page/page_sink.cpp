#include "watch/page/page_sink.h"

#include <fmt/format.h>

#include <memory>

#include "base/error.h"
#include "base/system/log.h"
#include "base/system/standard_streams.h"
#include "observe/events.h"
#include "watch/page/serve/access.h"
#include "watch/page/serve/page_server.h"

namespace trireme::watch {
namespace {

constexpr double kMostBusyShare = 0.1;  // of one core, while the page catches up with a long run

class PageSink : public observe::EventSink {
 public:
  explicit PageSink(PageOptions options) : server_(std::move(options)) {}
  void on(const observe::Event&) override {}
  bool wants(const observe::Event&) const override { return false; }
  const PageServer& server() const { return server_; }

 private:
  PageServer server_;
};

PageOptions page_options(const train::SinkContext& context) {
  const base::Settings& settings = *context.settings;
  PageOptions options;
  const base::fs::path folder = base::fs::absolute(context.folder).lexically_normal();
  options.runs.root = folder.parent_path();
  options.runs.levels = 1;
  options.runs.most_busy_share = kMostBusyShare;
  options.shown = folder.filename().string();
  options.address = settings.text("watch-address");
  options.port =
      settings.text("watch-port") == "auto" ? -1 : static_cast<int>(settings.integer("watch-port", 0, 65535));
  if (const std::string& file = settings.text("watch-token-file"); !file.empty()) options.token = token_of_file(file);
  if (settings.flag("watch-control")) options.control = context.control;
  return options;
}

// A page that cannot be served is no reason to end a run.
std::unique_ptr<observe::EventSink> make_page_sink(const train::SinkContext& context) {
  if (context.settings == nullptr || !context.settings->flag("watch")) return nullptr;
  try {
    auto sink = std::make_unique<PageSink>(page_options(context));
    if (!sink->server().note().empty()) base::log_warn("{}", sink->server().note());
    base::print_text(context.is_json || context.is_quiet ? stderr : stdout,
                     fmt::format("watch this run at {}\n", sink->server().url()));
    return sink;
  } catch (const std::exception& error) {
    base::log_warn("no page for this run: {}; the run goes on, and 'trireme watch {}' shows it", error.what(),
                   context.folder.string());
    return nullptr;
  }
}

}  // namespace

train::SinkRow page_sink() { return {"page", "a page for browsers, with --watch", make_page_sink}; }

}  // namespace trireme::watch
