// The certificate of a comparison: what was compared with which settings, versions and thresholds, what both sides
// found, and a seal over all of it. It can be checked anywhere: whether it was changed, whether its verdicts follow
// from its numbers, and whether a new run finds the same.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "compare/compare.h"

namespace trireme::compare {

struct Certificate {
  std::map<std::string, std::string> settings;  // of `trireme compare`
  std::string trireme, isa;                     // the version and instruction set that ran
  Outcome outcome;
  std::map<std::string, double> thresholds;
};
// Of an outcome here and now.
Certificate certify(const Outcome& outcome, const std::map<std::string, std::string>& settings);

// One JSON object; indent -1: in one line.
std::string to_json(const Certificate& certificate, int indent);
// What is no certificate, or was changed, is a user error.
Certificate parse_certificate(const std::string& text, const std::string& where);

// One thing that was looked at.
struct Finding {
  bool holds = true;
  std::string text;
};
// Whether the verdicts follow from the numbers.
std::vector<Finding> check_verdicts(const Certificate& certificate);
// Whether our side does again what it did; other builds and processors may round otherwise.
std::vector<Finding> check_own(const Certificate& certificate, const OwnFacts& again);
// Whether all levels end as they did.
std::vector<Finding> check_levels(const Certificate& certificate, const Outcome& again);

}  // namespace trireme::compare
