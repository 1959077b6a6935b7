// `trireme plot`: the curves of runs as an SVG file, or their numbers as a table.
#include <fmt/core.h>

#include <algorithm>
#include <array>

#include "base/error.h"
#include "base/system/files.h"
#include "base/text/nearest.h"
#include "base/text/text.h"
#include "cli/cli.h"
#include "watch/formats/metrics_csv.h"
#include "watch/records/curves.h"
#include "watch/report/html.h"
#include "watch/show/svg.h"

namespace trireme::cli {
namespace {

using Option = base::OptionSpec;

constexpr std::array kPlotOptions{
    Option{"What to draw", "values", "LIST", "loss,accuracy",
           "loss, accuracy, lr, r2, mae, rmse, f1 or several, one plot each"},
    Option{"What to draw", "x", "AXIS", "epoch", "epoch, step or time"},
    Option{"What to draw", "log", "", "no", "losses and learning rates over a logarithmic axis"},
    Option{"Where to", "to", "FILE", "",
           "the new picture, .svg; a page with it, .html; or .csv: the numbers of all steps and epochs as a table; -o "
           "FILE "
           "for short"},
};

watch::CurveOptions curve_options(const base::Settings& settings) {
  watch::CurveOptions options;
  const std::vector<std::string> axes = watch::curve_axes(), known = watch::curve_values();
  options.x = static_cast<watch::CurveAxis>(std::ranges::find(axes, settings.choice("x", axes)) - axes.begin());
  options.values = base::split(settings.text("values"), ',');
  for (const std::string& value : options.values)
    if (std::ranges::find(known, value) == known.end())
      base::user_error("{}", base::unknown_name("curve", value, known));
  options.is_logarithmic = settings.flag("log");
  return options;
}

std::string page_of(const std::vector<watch::Plot>& plots) {
  std::string body;
  for (const watch::Plot& plot : plots)
    body += watch::html_figure(watch::to_svg(plot), "dashed: training, solid: held-out data");
  return body;
}

int run_plot(const train::Registry&, const base::Settings& settings, const Arguments& arguments) {
  if (arguments.empty()) base::user_error("say which runs, as in: trireme plot runs/a runs/b --to curves.svg");
  const std::string& file = settings.text("to");
  if (file.empty()) base::user_error("say where to, as in: trireme plot {} --to curves.svg", arguments[0]);
  const bool is_table = file.ends_with(".csv"), is_page = file.ends_with(".html");
  if (!is_table && !is_page && !file.ends_with(".svg"))
    base::user_error("--to is '{}', expected a name that ends in .svg, .html or .csv", file);
  if (!is_table) base::check_new_file("--to", file);
  const watch::CurveOptions options = curve_options(settings);
  std::vector<watch::RunRecord> runs;
  for (const std::string& folder : arguments)
    for (watch::RunRecord& run : watch::read_runs(folder)) runs.push_back(std::move(run));
  if (is_table) {
    watch::write_metrics_csv(runs, file);
    fmt::print("{}: the steps and epochs of {}\n", file, base::counted(static_cast<std::int64_t>(runs.size()), "run"));
    return 0;
  }
  const std::vector<watch::Plot> plots = watch::curves_of(runs, options);
  if (plots.empty())
    base::user_error("there is nothing to draw: no run in {} has recorded any {} yet", base::join(arguments, ", "),
                     settings.text("values"));
  if (is_page)
    base::write_text_atomically(file, watch::html_page("Trireme: " + base::join(arguments, ", "), page_of(plots)));
  else
    base::write_text_atomically(file, watch::to_svg(plots));
  fmt::print("{}: {} of {}\n", file, base::counted(static_cast<std::int64_t>(plots.size()), "plot"),
             base::counted(static_cast<std::int64_t>(runs.size()), "run"));
  return 0;
}

}  // namespace

Verb plot_verb() {
  return {"plot",
          "draw the curves of runs",
          "Examples:\n"
          "  trireme plot runs/a --to a.svg\n"
          "  trireme plot runs/a runs/b --values accuracy --x time --to both.svg\n"
          "  trireme plot runs --to all.svg\n"
          "  trireme plot runs --to metrics.csv",
          kPlotOptions,
          "run...",
          run_plot};
}

}  // namespace trireme::cli
