#include "watch/report/report.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <ctime>

#include "base/text/text.h"
#include "base/version.h"
#include "watch/report/html.h"
#include "watch/report/reported_run.h"

namespace trireme::watch {
namespace {

std::string today() {
  const std::time_t now = std::time(nullptr);
  std::tm local{};
  localtime_r(&now, &local);
  return fmt::format("{:%Y-%m-%d %H:%M}", local);
}

std::string link_to(const std::string& anchor, const std::string& text) {
  return fmt::format("<a href=\"#{}\">{}</a>\n", anchor, html_escaped(text));
}

}  // namespace

std::string share_cell(double share) { return std::isfinite(share) ? fmt::format("{:.2f} %", 100 * share) : "–"; }

std::string seconds_cell(double seconds) {
  if (!std::isfinite(seconds)) return "–";
  return seconds >= 100 ? fmt::format("{:.0f}", seconds)
         : seconds >= 1 ? fmt::format("{:.1f}", seconds)
                        : fmt::format("{:.3f}", seconds);
}

std::string number_cell(double value, const char* form) {
  return std::isfinite(value) ? fmt::format(fmt::runtime(form), value) : "–";
}

std::string bytes_cell(double bytes) { return std::isfinite(bytes) ? base::human_bytes(bytes) : "–"; }

std::vector<ReportedRun> reported_runs(const std::vector<RunRecord>& runs) {
  std::vector<ReportedRun> all;
  for (const RunRecord& run : runs) all.push_back({run, read_details(run), read_resources(run.folder), run.name});
  for (ReportedRun& one : all) {
    const bool is_unique = std::ranges::count(runs, one.run.name, &RunRecord::name) == 1;
    if (!is_unique) one.label = one.run.folder.string();
  }
  return all;
}

std::string report_of(const std::vector<RunRecord>& records, const std::string& given_title) {
  const std::vector<ReportedRun> runs = reported_runs(records);
  std::string title = given_title;
  if (title.empty()) {
    std::vector<std::string> names;
    for (const ReportedRun& run : runs) names.push_back(run.label);
    title = names.size() <= 4 ? base::join(names, ", ") : base::counted(static_cast<std::int64_t>(names.size()), "run");
  }
  struct Section {
    const char *anchor, *title;
    std::string html;
  };
  std::vector<Section> sections{
      {"results", "Results", overview_section(runs)},      {"curves", "Curves", curves_section(runs)},
      {"time", "Where the time went", time_section(runs)}, {"scaling", "Speed-up over workers", scaling_section(runs)},
      {"resources", "Resources", resources_section(runs)}, {"differences", "What differs", differences_section(runs)}};
  std::erase_if(sections, [](const Section& section) { return section.html.empty(); });
  std::string navigation = "<nav>", body;
  for (const Section& section : sections) {
    navigation += link_to(section.anchor, section.title);
    body += fmt::format("<section id=\"{}\"><h2>{}</h2>\n{}</section>\n", section.anchor, section.title, section.html);
  }
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const std::string anchor = fmt::format("run-{}", i + 1);
    navigation += link_to(anchor, runs[i].label);
    body += fmt::format("<section class=\"run\" id=\"{}\"><h2>Run {}</h2>\n{}</section>\n", anchor,
                        html_escaped(runs[i].label), run_section(runs[i]));
  }
  const std::string head =
      fmt::format("<h1>{}</h1>\n<p class=\"small\">{} · made by {} on {}</p>\n{}</nav>\n", html_escaped(title),
                  base::counted(static_cast<std::int64_t>(runs.size()), "training run"),
                  html_escaped(base::version_text()), today(), navigation);
  return html_page("Trireme: " + title, head + body);
}

}  // namespace trireme::watch
