#include "data/readers/table/table_options.h"

#include <array>

#include "base/error.h"
#include "base/text/options.h"
#include "base/text/text.h"

namespace trireme::data {
namespace {

std::vector<std::string> column_list(const base::Settings& settings, const char* option) {
  const std::string& text = settings.text(option);
  if (text.empty()) return {};
  std::vector<std::string> all = base::split(text, ',');
  for (const std::string& each : all)
    if (each.empty())
      base::user_error("{} is '{}'; expected names or numbers of columns, separated by commas", settings.label(option),
                       text);
  return all;
}

}  // namespace

TableOptions table_options(const base::Settings& settings) {
  TableOptions options;
  options.targets = column_list(settings, "target-column");
  options.ignored = column_list(settings, "ignore-columns");
  options.categories = column_list(settings, "category-columns");
  const std::array<std::string, 3> words{"refuse", "mean", "zero"};
  const std::string& missing = settings.choice("missing", words);
  options.missing = missing == "mean"   ? MissingValues::mean
                    : missing == "zero" ? MissingValues::zero
                                        : MissingValues::refuse;
  return options;
}

}  // namespace trireme::data
