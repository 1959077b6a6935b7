#include "cli/help/completion.h"

#include <fmt/core.h>

#include "base/text/text.h"
#include "cli/help/option_values.h"

namespace trireme::cli {
namespace {

using Path = OptionValues::Path;

// Finds the verb and the word before the cursor, also for --option=value, which bash cuts at the equals sign.
constexpr const char* kBashStart = R"shell(# Completion of trireme for bash, made by `trireme manual`.

_trireme() {
  local cur=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]}
  local verb= words= path= list= prefix= i
  COMPREPLY=()
  if [[ $cur == '=' ]]; then
    cur=
  elif [[ $before == '=' ]]; then
    before=${COMP_WORDS[COMP_CWORD-2]}
  fi
  for (( i = 1; i < COMP_CWORD; ++i )); do
    [[ ${COMP_WORDS[i]} == -* ]] && continue
    verb=${COMP_WORDS[i]}
    break
  done
  case "$verb $before" in
)shell";

constexpr const char* kBashEnd = R"shell(  esac
  if [[ -n $list && $cur == *,* ]]; then
    prefix=${cur%,*},
    cur=${cur##*,}
  fi
  [[ -n $words ]] && mapfile -t COMPREPLY < <(compgen -P "$prefix" -W "$words" -- "$cur")
  if [[ -n $path ]]; then
    compopt -o filenames 2>/dev/null
    local -a files
    mapfile -t files < <(compgen "$path" -- "$cur")
    COMPREPLY+=("${files[@]}")
  fi
}

complete -F _trireme trireme
)shell";

constexpr const char* kZshStart = R"shell(#compdef trireme
# Completion of trireme for zsh, made by `trireme manual`.

_trireme_words_or_files() {
  _alternative "words:word:($*)" 'files:file:_files'
}

)shell";

std::string bash_case(const train::Registry& registry, const Verb& verb, const base::OptionSpec& option) {
  const OptionValues values = option_values(registry, verb, option);
  std::string line = fmt::format("    '{} --{}')", verb.name, option.name);
  if (!values.words.empty()) line += fmt::format(" words='{}'", base::join(values.words, " "));
  if (values.path != Path::none) line += values.path == Path::folder ? " path=-d" : " path=-f";
  if (values.list) line += " list=yes";
  return line + " ;;\n";
}

std::string dashed_options(const Verb& verb) {
  std::string words = "--help";
  for (const base::OptionSpec& option : verb.options) words += std::string(" --") + option.name;
  return words;
}

// Quotes for the shell, with single quotes.
std::string quoted(const std::string& text) {
  std::string out = "'";
  for (const char c : text) {
    if (c == '\'')
      out += "'\\''";
    else
      out += c;
  }
  return out + "'";
}

// Escapes what _arguments and _describe would interpret.
std::string zsh_text(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '[' || c == ']' || c == ':' || c == '\\') out += '\\';
    out += c;
  }
  return out;
}

std::string zsh_option(const train::Registry& registry, const Verb& verb, const base::OptionSpec& option) {
  const std::string help = zsh_text(help_text(verb, option));
  if (option.value[0] == '\0') return quoted(fmt::format("--{}[{}]", option.name, help));
  const OptionValues values = option_values(registry, verb, option);
  const std::string words = base::join(values.words, " ");
  std::string action = " ";  // a value that cannot be guessed
  if (values.list && !words.empty())
    action = "_sequence compadd - " + words;
  else if (values.path != Path::none && !words.empty())
    action = "_trireme_words_or_files " + words;
  else if (values.path != Path::none)
    action = values.path == Path::folder ? "_files -/" : "_files";
  else if (!words.empty())
    action = "(" + words + ")";
  return quoted(fmt::format("--{}=[{}]:{}:{}", option.name, help, zsh_text(option.value), action));
}

}  // namespace

std::string bash_completion(const train::Registry& registry, std::span<const Verb> verbs) {
  std::string script = kBashStart, names, rest;
  for (const Verb& verb : verbs) {
    names += std::string(names.empty() ? "" : " ") + verb.name;
    for (const base::OptionSpec& option : verb.options)
      if (option.value[0] != '\0') script += bash_case(registry, verb, option);
    rest += fmt::format("    '{} '*)\n      if [[ $cur == -* ]]; then\n        words='{}'\n", verb.name,
                        dashed_options(verb));
    if (!verb.words.empty())
      rest +=
          fmt::format("      elif (( COMP_CWORD == i + 1 )); then\n        words='{}'\n", base::join(verb.words, " "));
    rest += "      fi\n      ;;\n";
  }
  return script + rest + fmt::format("    ' '*) words='{} --help --version' ;;\n", names) + kBashEnd;
}

std::string zsh_completion(const train::Registry& registry, std::span<const Verb> verbs) {
  std::string script = kZshStart, names, cases;
  for (const Verb& verb : verbs) {
    names += "        " + quoted(std::string(verb.name) + ":" + zsh_text(verb.summary)) + "\n";
    cases +=
        fmt::format("        {})\n          _arguments {}", verb.name, quoted(fmt::format("--help[{}]", kHelpOfHelp)));
    if (!verb.words.empty())
      cases +=
          " \\\n            " + quoted(fmt::format("1:{}:({})", argument_names(verb)[0], base::join(verb.words, " ")));
    for (const base::OptionSpec& option : verb.options)
      cases += " \\\n            " + zsh_option(registry, verb, option);
    cases += "\n          ;;\n";
  }
  return script + fmt::format(
                      "_trireme() {{\n"
                      "  local curcontext=$curcontext state line\n"
                      "  typeset -A opt_args\n"
                      "  _arguments -C '(- *)--help[{}]' '(- *)--version[{}]' '1:verb:->verb' '*::argument:->rest'\n"
                      "  case $state in\n"
                      "    verb)\n"
                      "      local -a verbs=(\n{}"
                      "      )\n"
                      "      _describe verb verbs\n"
                      "      ;;\n"
                      "    rest)\n"
                      "      case $words[1] in\n{}"
                      "      esac\n"
                      "      ;;\n"
                      "  esac\n"
                      "}}\n\n"
                      "_trireme \"$@\"\n",
                      kHelpOfHelp, kHelpOfVersion, names, cases);
}

}  // namespace trireme::cli
