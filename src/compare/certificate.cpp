#include "compare/certificate.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "base/cpu/simd.h"
#include "base/error.h"
#include "base/hash.h"
#include "base/version.h"
#include "compare/levels/op_equal.h"
#include "compare/levels/update_equal.h"

namespace trireme::compare {
namespace {

using OrderedJson = nlohmann::ordered_json;

constexpr const char* kAnyForm = "trireme compare, form ";
constexpr const char* kForm = "trireme compare, form 2";
constexpr const char* kSeal = "sha256";

// JSON has no infinity: null instead.
OrderedJson number(double value) { return std::isfinite(value) ? OrderedJson(value) : OrderedJson(nullptr); }
double from_number(const OrderedJson& json) {
  return json.is_null() ? std::numeric_limits<double>::infinity() : json.get<double>();
}

OrderedJson json_of(const Level& level) {
  OrderedJson rows = OrderedJson::array();
  for (const Difference& row : level.rows) {
    rows.push_back({{"name", row.name}, {"error", number(row.error)}});
    if (row.max_error > 0) rows.back()["max_error"] = number(row.max_error);
    rows.back()["limit"] = number(row.limit);
  }
  return {{"level", level.name}, {"passed", level.passed}, {"summary", level.summary}, {"rows", std::move(rows)}};
}

Level level_of(const OrderedJson& json) {
  Level level{.name = json.at("level"), .passed = json.at("passed"), .summary = json.at("summary")};
  for (const OrderedJson& row : json.at("rows"))
    level.rows.push_back({row.at("name"), from_number(row.at("error")), from_number(row.at("limit")),
                          row.contains("max_error") ? from_number(row["max_error"]) : 0});
  return level;
}

std::string seal_of(const OrderedJson& json) {
  const std::string text = json.dump();
  return base::sha256_hex(std::as_bytes(std::span(text)));
}

std::map<std::string, double> thresholds() {
  std::map<std::string, double> all = band_thresholds();
  all.merge(op_thresholds());
  all.merge(update_thresholds());
  return all;
}

Finding finding(bool holds, const std::string& text) { return {holds, text}; }

}  // namespace

Certificate certify(const Outcome& outcome, const std::map<std::string, std::string>& settings) {
  Certificate all{.settings = settings,
                  .trireme = base::version_text(),
                  .isa = std::string(base::isa_name(base::active_isa())),
                  .outcome = outcome,
                  .thresholds = thresholds()};
  return all;
}

std::string to_json(const Certificate& certificate, int indent) {
  const Outcome& outcome = certificate.outcome;
  OrderedJson json{{"certificate", kForm},
                   {"model", certificate.settings.at("model")},
                   {"peer", certificate.settings.at("peer")},
                   {"peer_version", outcome.peer_version},
                   {"passed", outcome.passed()},
                   {"trireme", certificate.trireme},
                   {"isa", certificate.isa},
                   {"settings", certificate.settings},
                   {"start_sha256", outcome.own.start_sha256},
                   {"batches_sha256", outcome.own.batches},
                   {"weights_sha256", outcome.own.weights_sha256},
                   {"not_compared", outcome.not_exercised},
                   {"thresholds", certificate.thresholds},
                   {"levels", OrderedJson::array()}};
  for (const Level& level : outcome.levels) json["levels"].push_back(json_of(level));
  json[kSeal] = seal_of(json);
  return json.dump(indent);
}

Certificate parse_certificate(const std::string& text, const std::string& where) {
  Certificate found;
  std::string form, seal, expected;
  try {
    OrderedJson json = OrderedJson::parse(text);
    form = json.at("certificate");
    if (form != kForm) throw std::invalid_argument("form");
    found.settings = json.at("settings").get<std::map<std::string, std::string>>();
    found.trireme = json.at("trireme");
    found.isa = json.at("isa");
    found.thresholds = json.at("thresholds").get<std::map<std::string, double>>();
    found.outcome.peer_version = json.at("peer_version");
    found.outcome.own = {json.at("start_sha256"), json.at("batches_sha256").get<std::vector<std::string>>(),
                         json.at("weights_sha256")};
    found.outcome.not_exercised = json.at("not_compared").get<std::vector<std::string>>();
    for (const OrderedJson& level : json.at("levels")) found.outcome.levels.push_back(level_of(level));
    seal = json.at(kSeal);
    json.erase(kSeal);
    expected = seal_of(json);
  } catch (const std::exception&) {
    if (form != kForm && form.starts_with(kAnyForm))
      base::user_error("{} is a certificate of another version of trireme ({}); make a new one", where, form);
    base::user_error("{} is no certificate of trireme compare", where);
  }
  if (seal != expected) base::user_error("{} was changed after it was written: its seal does not match", where);
  return found;
}

std::vector<Finding> check_verdicts(const Certificate& certificate) {
  std::vector<Finding> all;
  for (const Level& level : certificate.outcome.levels) {
    const bool within = std::ranges::all_of(level.rows, [](const Difference& row) { return row.excess() <= 1; });
    all.push_back(finding(!level.passed || within,
                          fmt::format("{}: its verdict {} from its {} numbers", level.name,
                                      !level.passed || within ? "follows" : "does not follow", level.rows.size())));
  }
  const bool same = certificate.thresholds == thresholds();
  all.push_back(finding(
      same, same ? "the thresholds are those of this program" : "the thresholds are other than those of this program"));
  return all;
}

std::vector<Finding> check_own(const Certificate& certificate, const OwnFacts& again) {
  const OwnFacts& then = certificate.outcome.own;
  const auto compared = [](bool same, const char* what) {
    return finding(same, fmt::format("{} {}", what, same ? "the same" : "other than certified"));
  };
  std::vector<Finding> all{compared(then.start_sha256 == again.start_sha256, "the weights at the start are"),
                           compared(then.batches == again.batches, "the first batches are")};
  const bool same = then.weights_sha256 == again.weights_sha256;
  const bool same_program =
      certificate.trireme == base::version_text() && certificate.isa == base::isa_name(base::active_isa());
  if (same || same_program)
    all.push_back(compared(same, "our weights after all steps are"));
  else
    all.push_back(
        finding(true, fmt::format("our weights after all steps have other bits than with {} on {}, as another "
                                  "build or processor may",
                                  certificate.trireme, certificate.isa)));
  return all;
}

std::vector<Finding> check_levels(const Certificate& certificate, const Outcome& again) {
  std::vector<Finding> all;
  for (const Level& level : certificate.outcome.levels) {
    const auto now = std::ranges::find(again.levels, level.name, &Level::name);
    const bool same = now != again.levels.end() && now->passed == level.passed;
    all.push_back(finding(same, fmt::format("{} {}{}", level.name,
                                            now == again.levels.end() ? "was not run again"
                                            : now->passed             ? "passes"
                                                                      : "fails",
                                            same           ? ", as certified"
                                            : level.passed ? ", and passed then"
                                                           : ", and failed then")));
  }
  return all;
}

}  // namespace trireme::compare
