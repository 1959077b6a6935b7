// Options: declared once, in a table. The command line, help, documentation, configuration files and the record stored
// with each run all derive from the table.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace trireme::base {

struct OptionSpec {
  const char* group;
  const char* name;       // without the dashes
  const char* value;      // placeholder for the value in the help; empty: a flag
  const char* otherwise;  // the default, as text
  const char* help;
};

// Settings: the values of a table of options, kept as text until read.
class Settings {
 public:
  explicit Settings(std::span<const OptionSpec> table);

  std::span<const OptionSpec> table() const { return table_; }
  // An unknown name is a user error with the nearest known name. `where`: the file that the value comes from; empty:
  // the command line.
  void set(const std::string& name, const std::string& value, const std::string& where = "");
  bool is_set(const std::string& name) const { return given_.contains(name); }
  const std::string& text(const std::string& name) const;
  std::int64_t integer(const std::string& name, std::int64_t least, std::int64_t most) const;
  double number(const std::string& name) const;
  bool flag(const std::string& name) const;
  // The value; if it is not one of the words, a user error with the nearest.
  const std::string& choice(const std::string& name, std::span<const std::string> words) const;
  // Reports only the user error of choice().
  void check_choice(const std::string& name, std::span<const std::string> words) const { (void)choice(name, words); }
  // "--batch", or "--batch (from experiment.toml)": the start of errors about a value.
  std::string label(const std::string& name) const;
  // All values, defaults included.
  std::map<std::string, std::string> all() const;
  // Only the values that were given.
  const std::map<std::string, std::string>& given() const { return given_; }

 private:
  std::span<const OptionSpec> table_;
  std::map<std::string, std::string> defaults_;
  std::map<std::string, std::string> given_;
  std::map<std::string, std::string> where_;  // the file of each value that was not given on the command line
};

}  // namespace trireme::base
