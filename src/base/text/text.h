// Text helpers: splitting, parsing numbers with clear errors, "name:key=value,..." specifications, sizes and times.
// Functions are thread-safe; a Spec: one thread at a time.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace trireme::base {

std::vector<std::string> split(std::string_view text, char separator);
std::string join(std::span<const std::string> parts, std::string_view separator);
std::string join_or(std::span<const std::string> words);  // "a, b or c"

// A library's message without the tag in brackets that the JSON library puts in front.
std::string_view without_tag(std::string_view message);

// The whole text as a number, or a user error that names `what`.
std::int64_t parse_int(std::string_view what, std::string_view text);
double parse_double(std::string_view what, std::string_view text);
// "50%" -> 0.5, "0.5" -> 0.5; outside [0, 1] is a user error.
double parse_fraction(std::string_view what, std::string_view text);

// Spec: "sgd:lr=0.1,momentum=0.9", a name and its options. The caller reads each option with a default, then calls
// finish(): options that were not read are user errors that name the nearest known one.
class Spec {
 public:
  Spec(std::string_view what, std::string_view text);
  const std::string& name() const { return name_; }
  double number(const std::string& key, double otherwise);
  std::int64_t integer(const std::string& key, std::int64_t otherwise);
  bool flag(const std::string& key, bool otherwise);
  std::string word(const std::string& key, const std::string& otherwise);
  // Options in the order given, for specifications with free keys ("step:80=0.01"); marks all as read.
  std::vector<std::pair<std::string, std::string>> all();
  void finish() const;

 private:
  const std::string* find(const std::string& key);

  std::string what_;
  std::string name_;
  std::vector<std::pair<std::string, std::string>> options_;
  std::set<std::string> known_;
};

std::string human_bytes(double bytes);      // "12.3 MB"
std::string human_seconds(double seconds);  // "1:02:03", "4.2 s", "12.3 ms"
// "1 sample", "2 samples".
std::string counted(std::int64_t number, std::string_view what);

}  // namespace trireme::base
