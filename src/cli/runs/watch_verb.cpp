// `trireme watch`: a page that shows runs in a browser.
#include <fmt/core.h>

#include <array>
#include <chrono>
#include <thread>

#include "base/error.h"
#include "base/system/standard_streams.h"
#include "cli/cli.h"
#include "train/worker/interrupt.h"
#include "watch/page/serve/access.h"
#include "watch/page/serve/page_server.h"

namespace trireme::cli {
namespace {

using Option = base::OptionSpec;

constexpr std::array kWatchOptions{
    Option{"Where", "port", "N", "auto", "the port of the page; auto: 8743, or the next one that is free; 0: any"},
    Option{"Where", "address", "A", "127.0.0.1",
           "who can reach the page: 127.0.0.1 is this host alone; 0.0.0.0 the whole network, with a token"},
    Option{"Where", "token-file", "FILE", "",
           "a file with the token that browsers must give; default: a new one, where one is needed"},
};

int run_watch(const train::Registry&, const base::Settings& settings, const Arguments& arguments) {
  const std::string folder = first_of(arguments).empty() ? "runs" : first_of(arguments);
  if (!base::fs::is_directory(folder))
    base::user_error("there is no folder {}; name a run folder or a folder with runs, as in: trireme watch runs",
                     folder);
  watch::PageOptions options;
  options.runs.root = base::fs::absolute(folder).lexically_normal();
  options.address = settings.text("address");
  options.port = settings.text("port") == "auto" ? -1 : static_cast<int>(settings.integer("port", 0, 65535));
  options.is_strict = true;
  if (const std::string& file = settings.text("token-file"); !file.empty()) options.token = watch::token_of_file(file);
  const train::InterruptWatch interrupt;
  const watch::PageServer server(std::move(options));
  base::print_text(stdout, fmt::format("watch the runs in {} at {}\nCtrl-C ends this\n", folder, server.url()));
  while (!interrupt.requested()) std::this_thread::sleep_for(std::chrono::milliseconds(100));
  return 0;
}

}  // namespace

Verb watch_verb() {
  return {"watch",
          "show runs in a browser, live and afterwards",
          "Examples:\n"
          "  trireme watch\n"
          "  trireme watch runs/lenet5-fashion-mnist-1\n"
          "  trireme watch experiments --port 9000\n"
          "  trireme watch runs --address 0.0.0.0\n"
          "A run shows itself with: trireme train --watch ...",
          kWatchOptions,
          "folder",
          run_watch};
}

}  // namespace trireme::cli
