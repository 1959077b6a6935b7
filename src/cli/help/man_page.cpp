// A page is roff with the macros of man(7). Prose passes through fill(), preformatted text through verbatim(); both
// escape what roff would interpret.
#include "cli/help/man_page.h"

#include <fmt/core.h>

#include "base/text/text.h"
#include "base/version.h"

namespace trireme::cli {
namespace {

constexpr std::size_t kWidth = 78;  // of a line of source; checkers of roff complain beyond 80

// Escapes text for roff: dashes stay plain hyphens that can be typed and copied; quotes and accents stay ASCII.
std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '\\': out += "\\e"; break;
      case '-': out += "\\-"; break;
      case '\'': out += "\\(aq"; break;
      case '`': out += "\\(ga"; break;
      case '^': out += "\\(ha"; break;
      case '~': out += "\\(ti"; break;
      default: out += c;
    }
  }
  return out;
}

// A line that begins with a dot or a quote would be a request.
std::string guarded(const std::string& line) {
  return line.starts_with(".") || line.starts_with("'") ? "\\&" + line : line;
}

std::string bold(std::string_view text) { return "\\fB" + escaped(text) + "\\fR"; }
std::string italic(std::string_view text) { return "\\fI" + escaped(text) + "\\fR"; }

// Free text, wrapped between words.
std::string fill(std::string_view text) {
  std::string page, line;
  for (const std::string& raw : base::split(text, ' ')) {
    const std::string word = escaped(raw);
    if (!line.empty() && line.size() + 1 + word.size() > kWidth) {
      page += guarded(line) + "\n";
      line.clear();
    }
    line += (line.empty() ? "" : " ") + word;
  }
  return line.empty() ? page : page + guarded(line) + "\n";
}

// Preformatted lines.
std::string verbatim(std::string_view text) {
  std::string page = ".nf\n";
  for (const std::string& line : base::split(text, '\n')) page += guarded(escaped(line)) + "\n";
  return page + ".fi\n";
}

std::string heading(const std::string& name) {
  std::string capitals = name;
  for (char& c : capitals) c = static_cast<char>(c >= 'a' && c <= 'z' ? c - 'a' + 'A' : c);
  return fmt::format(
      ".\\\" Made by `trireme manual` from the tables behind --help.\n"
      ".TH {} 1 \"{}\" \"trireme {}\" \"User Commands\"\n",
      capitals, base::source_date(), base::version_number());
}

std::string section(const char* name) { return fmt::format(".SH {}\n", name); }

std::string entry(const std::string& term, const std::string& help) { return ".TP\n" + term + "\n" + fill(help); }

// "Examples:\n  trireme ..." without its first line and the indentation.
std::string example_lines(const std::string& text) {
  std::string lines;
  std::vector<std::string> all = base::split(text, '\n');
  for (std::size_t i = 1; i < all.size(); ++i)
    lines += (lines.empty() ? "" : "\n") + (all[i].starts_with("  ") ? all[i].substr(2) : all[i]);
  return lines;
}

std::string ending() {
  return section("EXIT STATUS") + entry("0", "The work is done.") +
         entry("1", "It failed while running; a training run can be resumed with trireme train --resume.") +
         entry("2", "A mistake in options, files or shapes; nothing was written.");
}

}  // namespace

std::string program_man_page(std::span<const Verb> verbs) {
  std::string page = heading("trireme") + section("NAME") + "trireme \\- train deep neural networks on CPUs\n" +
                     section("SYNOPSIS") + bold("trireme") + " " + italic("verb") + " [" + italic("option") +
                     " ...]\n.br\n" + bold("trireme") + " [" + bold("--help") + "] [" + bold("--version") + "]\n" +
                     section("DESCRIPTION") + fill(kSummary) + ".PP\n" +
                     fill("Each verb has a manual page of its own.") + section("VERBS");
  for (const Verb& verb : verbs) page += ".TP\n\\fBtrireme\\-" + escaped(verb.name) + "\\fR(1)\n" + fill(verb.summary);
  page += section("OPTIONS") + entry(bold("--help"), kHelpOfHelp) + entry(bold("--version"), kHelpOfVersion);
  page += section("ENVIRONMENT") + entry(bold("TRIREME_DATA"), "Folder of datasets, where --data-dir names none.") +
          entry(bold("TRIREME_PYTHON"), "Interpreter with the peer, where --python names none.") +
          entry(bold("TRIREME_PEERS"),
                "Folder of the peers' scripts, where it lies neither beside the source nor where "
                "it was installed.") +
          entry(bold("TRIREME_TOKEN"), "Under Slurm, the job's secret where nodes do not share a home folder.") +
          ending() + section("EXAMPLES") + verbatim(kStart) + section("SEE ALSO");
  for (std::size_t i = 0; i < verbs.size(); ++i)
    page += fmt::format(".BR trireme\\-{} (1){}\n", escaped(verbs[i].name), i + 1 < verbs.size() ? "," : "");
  return page;
}

std::string verb_man_page(const Verb& verb) {
  const std::string name = std::string("trireme-") + verb.name;
  std::string page = heading(name) + section("NAME") + fill(name + " - " + verb.summary) + section("SYNOPSIS") +
                     bold(std::string("trireme ") + verb.name);
  if (verb.arguments[0] != '\0') page += " " + italic(verb.arguments);
  page += " [" + italic("option") + " ...]\n";
  if (!verb.words.empty())
    page += section("DESCRIPTION") + italic(argument_names(verb)[0]) + " is one of\n" +
            fill(base::join_or(verb.words) + ".");
  page += section("OPTIONS") + entry(bold("--help"), kHelpOfHelp);
  std::string group;
  for (const base::OptionSpec& option : verb.options) {
    if (group != option.group) page += fmt::format(".SS {}\n", escaped(group = option.group));
    std::string term = bold(std::string("--") + option.name);
    if (option.value[0] != '\0') term += " " + italic(option.value);
    page += entry(term, help_text(verb, option));
  }
  return page + section("EXAMPLES") + verbatim(example_lines(verb.examples)) + ending() + section("SEE ALSO") +
         ".BR trireme (1)\n";
}

}  // namespace trireme::cli
