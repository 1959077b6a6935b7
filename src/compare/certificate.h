// The certificate of a comparison: settings, versions, thresholds and the results of both sides, sealed by a checksum.
// Anyone can check that it is unchanged, that its verdicts follow from its numbers, and that a new run finds the same.
// Thread-safe.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "compare/compare.h"

namespace trireme::compare {

struct Certificate {
  std::map<std::string, std::string> settings;  // of `trireme compare`
  std::string trireme, isa;                     // version and instruction set that ran
  Outcome outcome;
  std::map<std::string, double> thresholds;
};
// Makes the certificate of an outcome of this machine.
Certificate certify(const Outcome& outcome, const std::map<std::string, std::string>& settings);

// One JSON object; indent -1: on one line.
std::string to_json(const Certificate& certificate, int indent);
// A file that is not a certificate, or was changed, is a user error.
Certificate parse_certificate(const std::string& text, const std::string& where);

// The result of one check.
struct Finding {
  bool holds = true;
  std::string text;
};
// Checks that the verdicts follow from the numbers.
std::vector<Finding> check_verdicts(const Certificate& certificate);
// Checks that our side repeats its results; other builds and processors may round differently.
std::vector<Finding> check_own(const Certificate& certificate, const OwnFacts& again);
// Checks that all levels end with the same verdict.
std::vector<Finding> check_levels(const Certificate& certificate, const Outcome& again);

}  // namespace trireme::compare
