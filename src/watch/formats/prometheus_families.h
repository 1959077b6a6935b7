// PrometheusFamilies: samples in the text format of Prometheus, all of one name together. One thread at a time.
#pragma once

#include <initializer_list>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace trireme::watch {

enum class PrometheusType { gauge, counter };

class PrometheusFamilies {
 public:
  using Labels = std::vector<std::pair<std::string, std::string>>;

  // `name` ends in a unit, and in _total for a counter; `help` is a sentence, the same in every call. Unknown values
  // (NaN) are left out.
  void add(const std::string& name, PrometheusType type, std::string_view help, const Labels& labels, double value);
  std::string text() const;

 private:
  struct Family {
    PrometheusType type = PrometheusType::gauge;
    std::string help;
    std::string samples;
  };

  std::map<std::string, Family> families_;
};

}  // namespace trireme::watch
