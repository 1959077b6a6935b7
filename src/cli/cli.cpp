#include "cli/cli.h"

#include <CLI/CLI.hpp>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <iostream>
#include <system_error>

#include "base/error.h"
#include "base/error_of.h"
#include "base/system/beside_program.h"
#include "base/system/descriptors.h"
#include "base/system/memory_reserve.h"
#include "base/system/standard_streams.h"
#include "base/text/nearest.h"
#include "base/text/text.h"
#include "base/version.h"

namespace trireme::cli {
namespace {

// The subcommand of a verb, and the settings parsed for it.
struct Parsed {
  Verb verb;
  CLI::App* app = nullptr;
  base::Settings settings;
  Arguments arguments;
};

void add_options(Parsed& parsed) {
  CLI::App& app = *parsed.app;
  app.allow_extras();
  app.footer(base::in_own_words(parsed.verb.examples));
  for (const base::OptionSpec& option : parsed.verb.options) {
    const std::string name = option.name, dashed = "--" + name;
    base::Settings* settings = &parsed.settings;
    CLI::Option* made = nullptr;
    if (option.value[0] == '\0') {
      made = app.add_flag_callback(
          dashed, [settings, name] { settings->set(name, "yes"); }, base::in_own_words(help_text(parsed.verb, option)));
      made->disable_flag_override();
    } else {
      made = app.add_option_function<std::string>(
          dashed, [settings, name](const std::string& value) { settings->set(name, value); },
          base::in_own_words(help_text(parsed.verb, option)));
      made->type_name(option.value)->take_last();
    }
    made->group(option.group);
    if (name == "to")  // a short form that help does not repeat
      app.add_option_function<std::string>("-o", [settings](const std::string& value) { settings->set("to", value); })
          ->take_last()
          ->group("");
  }
  const std::vector<std::string> names = argument_names(parsed.verb);
  if (takes_any_number(parsed.verb)) {
    app.add_option(names[0], parsed.arguments, "")->type_name("")->expected(0, CLI::detail::expected_max_vector_size);
    return;
  }
  parsed.arguments.resize(names.size());  // and never again: the options keep pointers
  for (std::size_t i = 0; i < names.size(); ++i) app.add_option(names[i], parsed.arguments[i], "")->type_name("");
}

// Reports an unknown verb, or an unknown option of a verb, as a user error.
[[noreturn]] void refuse_unknown_words(const std::vector<std::string>& rest, const std::vector<Verb>& all,
                                       const Parsed* parsed) {
  const std::string& word = rest.front();
  if (!parsed) {
    std::vector<std::string> names{"--help", "--version"};
    for (const Verb& verb : all) names.emplace_back(verb.name);
    base::user_error("{}", base::unknown_name(word.starts_with("-") ? "option" : "verb", word, names));
  }
  if (word.starts_with("--")) base::Settings(parsed->verb.options).set(word.substr(2, word.find('=') - 2), "");
  base::user_error("trireme {} does not take '{}'; see trireme {} --help", parsed->verb.name, word, parsed->verb.name);
}

// Turns CLI11's parse errors into user errors in our words.
[[noreturn]] void complain_of_parse(const CLI::ParseError& error) {
  const std::string text = error.what();
  const std::string option = text.substr(0, text.find_first_of(": "));
  if (dynamic_cast<const CLI::ArgumentMismatch*>(&error) != nullptr) {
    if (text.find("flag override") != std::string::npos)
      base::user_error("--{} takes no value", option.substr(option.find_first_not_of('-')));
    base::user_error("{} needs a value", option);
  }
  base::user_error("{}", text);
}

int run_checked(const train::Registry& registry, int argc, char** argv) {
  CLI::App app(std::string(kSummary) + "\n", base::program_name());
  app.set_version_flag("--version", base::version_text(), kHelpOfVersion)->disable_flag_override();
  app.set_help_flag("-h,--help", kHelpOfHelp)->disable_flag_override();
  app.footer(
      base::in_own_words(fmt::format("Start with: {}\nEach verb explains itself: trireme train --help", kStart)));
  app.get_formatter()->column_width(34);
  const std::vector<Verb> all = verbs(registry);
  std::vector<Parsed> parsed;
  parsed.reserve(all.size());
  for (const Verb& verb : all) {
    parsed.push_back({verb, app.add_subcommand(verb.name, verb.summary), base::Settings(verb.options), {}});
    add_options(parsed.back());
  }
  std::string manual_folder;
  CLI::App* manual = app.add_subcommand("manual", "")->group("");  // hidden
  manual->add_option("folder", manual_folder)->required();
  app.require_subcommand(0, 1);  // words after a verb belong to it: `bench train` is not a second verb
  app.allow_extras();
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& success) {
    return app.exit(success);  // --help, --version
  } catch (const CLI::ParseError& error) {
    complain_of_parse(error);
  }
  if (manual->parsed()) {
    write_manual(registry, manual_folder);
    return 0;
  }
  Parsed* chosen = nullptr;
  for (Parsed& each : parsed)
    if (each.app->parsed()) chosen = &each;
  if (const auto rest = app.remaining(true); !rest.empty()) refuse_unknown_words(rest, all, chosen);
  if (!chosen) {
    std::fputs(app.help().c_str(), stdout);
    return 0;
  }
  std::erase(chosen->arguments, "");
  return chosen->verb.run(registry, chosen->settings, chosen->arguments);
}

// Runs the command line. Output that could not be written is a failure of every verb but train, whose results are in
// its run folder: that one writes its standard output itself.
int run_and_flush(const train::Registry& registry, int argc, char** argv) {
  const auto complain = [](int cause) { base::run_error("cannot write standard output: {}", std::strerror(cause)); };
  int code = 0;
  try {
    code = run_checked(registry, argc, argv);
  } catch (const std::system_error& error) {  // fmt::print() throws it
    if (std::ferror(stdout) == 0) throw;
    complain(error.code().value());
  }
  std::cout.flush();
  if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0) complain(errno);
  return code;
}

}  // namespace

std::vector<std::string> argument_names(const Verb& verb) {
  std::vector<std::string> names;
  for (const std::string& name : base::split(verb.arguments, ' '))
    if (!name.empty()) names.push_back(name.substr(0, name.find("...")));
  return names;
}

bool takes_any_number(const Verb& verb) { return std::string_view(verb.arguments).ends_with("..."); }

std::string help_text(const Verb& verb, const base::OptionSpec& option) {
  if (option.value[0] == '\0') return option.help;
  const std::string otherwise = option.otherwise;
  const auto values = verb.values.find(option.name);
  const std::string help =
      values == verb.values.end() ? option.help : fmt::format("{}: {}", option.help, values->second);
  const bool says_nothing = otherwise.empty() || otherwise == "0" || otherwise == "0%" || otherwise == "auto";
  return says_nothing ? help : fmt::format("{} (default {})", help, otherwise);
}

std::vector<Verb> verbs(const train::Registry& registry) {
  return {train_verb(registry), init_verb(),    eval_verb(),          predict_verb(), data_verb(),
          model_verb(),         compare_verb(), bench_verb(registry), runs_verb(),    watch_verb(),
          plot_verb(),          diff_verb(),    report_verb(),        trace_verb(),   list_verb()};
}

int run(const train::Registry& registry, int argc, char** argv) {
  base::keep_standard_descriptors();
  base::raise_descriptor_limit();
  base::keep_memory_reserve();
  // Without SIGXFSZ, writing beyond the file size limit (ulimit -f) fails like a full disk, with the same error
  // message.
  std::signal(SIGXFSZ, SIG_IGN);
  try {
    return run_and_flush(registry, argc, argv);
  } catch (...) {
    const base::Error error = base::error_of(std::current_exception());
    base::print_error(error.what());
    return error.exit_code();
  }
}

}  // namespace trireme::cli
