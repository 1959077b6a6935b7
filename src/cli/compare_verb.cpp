#include <fmt/core.h>

#include "base/error.h"
#include "base/system/files.h"
#include "base/text/text.h"
#include "bench/peer/comparison.h"
#include "cli/cli.h"
#include "compare/certificate.h"
#include "compare/weight_files.h"
#include "train/run_folder/weight_file.h"

namespace trireme::cli {
namespace {

void print_rows(const std::vector<compare::Difference>& rows) {
  for (const compare::Difference& row : rows)
    fmt::print("  {:<44} L2 {:<9.2g} max {:<9.2g} limit {:.2g}\n", row.name, row.error, row.max_error, row.limit);
}

void print_levels(const compare::Outcome& outcome, bool details) {
  for (const compare::Level& level : outcome.levels) {
    fmt::print("{:<17} {:<6} {}\n", level.name, level.passed ? "passes" : "FAILS", level.summary);
    if (details) print_rows(level.rows);
  }
  if (!outcome.not_exercised.empty()) fmt::print("not compared: {}\n", base::join(outcome.not_exercised, "; "));
}

int print_findings(const std::vector<compare::Finding>& findings) {
  bool all_hold = true;
  for (const compare::Finding& one : findings) {
    fmt::print("{:<5} {}\n", one.holds ? "holds" : "FAILS", one.text);
    all_hold &= one.holds;
  }
  return all_hold ? 0 : 1;
}

int check(const train::Registry& registry, const base::Settings& settings, const std::string& file) {
  const compare::Certificate certificate = compare::parse_certificate(base::read_text(file), file);
  base::Settings certified(bench::comparison_options());
  for (const auto& [name, value] : certificate.settings) certified.set(name, value, file);
  for (const char* name : {"python", "data-dir"})
    if (settings.is_set(name)) certified.set(name, settings.text(name));
  bench::Comparison comparison(registry, certified);
  fmt::print("{}: {} here and in {} {}\n", file, certified.text("model"), comparison.system().title,
             certificate.outcome.peer_version);
  std::vector<compare::Finding> all{{true, "the seal fits"}};
  const auto add = [&](const std::vector<compare::Finding>& more) { all.insert(all.end(), more.begin(), more.end()); };
  add(compare::check_verdicts(certificate));
  std::string why_not;
  try {
    comparison.find_peer();
  } catch (const base::Error& error) {
    why_not = error.what();
  }
  if (why_not.empty()) {
    const compare::Outcome again = comparison.run();
    add(compare::check_own(certificate, again.own));
    add(compare::check_levels(certificate, again));
  } else {
    add(compare::check_own(certificate, compare::run_own_side(comparison.experiment(), comparison.options())));
  }
  const int code = print_findings(all);
  if (!why_not.empty()) fmt::print("{} was not run again: {}\n", comparison.system().title, why_not);
  return code;
}

int compare_files(const base::Settings& settings) {
  const std::string &a = settings.text("weights-a"), &b = settings.text("weights-b");
  if (a.empty() || b.empty()) base::user_error("--weights-a and --weights-b name the two files; one is missing");
  const compare::Level level =
      compare::compare_weights(train::read_weight_file(a).tensors, train::read_weight_file(b).tensors);
  print_rows(level.rows);
  fmt::print("{:<17} {:<6} {}\n", level.name, level.passed ? "passes" : "FAILS", level.summary);
  return level.passed ? 0 : 1;
}

int run_compare(const train::Registry& registry, const base::Settings& settings, const Arguments&) {
  if (settings.is_set("weights-a") || settings.is_set("weights-b")) return compare_files(settings);
  if (const std::string& file = settings.text("check"); !file.empty()) return check(registry, settings, file);
  const std::string& file = settings.text("certificate");
  if (!file.empty()) base::check_new_file("--certificate", file);
  bench::Comparison comparison(registry, settings);
  comparison.find_peer();
  const compare::Outcome outcome = comparison.run();
  const compare::Certificate certificate = compare::certify(outcome, comparison.values());
  if (settings.flag("json")) {
    fmt::print("{}\n", compare::to_json(certificate, -1));
  } else {
    fmt::print("{} here and in {} {}\n", settings.text("model"), comparison.system().title, outcome.peer_version);
    print_levels(outcome, settings.flag("details"));
  }
  if (!file.empty()) base::write_text_atomically(file, compare::to_json(certificate, 1) + "\n");
  return outcome.passed() ? 0 : 1;
}

}  // namespace

Verb compare_verb() {
  return {"compare",
          "show that a network is the same here and in PyTorch, and stays so while it trains",
          "Examples:\n"
          "  trireme compare --model resnet20-cifar --steps 20 --certificate resnet20.json\n"
          "  trireme compare --check resnet20.json\n"
          "  trireme compare --model mnist-cnn --optimizer adam --batch 32 --oars 4 --details\n"
          "  trireme compare --model mnist-cnn --data fashion-mnist --batch 96 --runs 5 --strategy ps:mode=async "
          "--workers 2\n"
          "  trireme compare --weights-a runs/a/checkpoints/step-00001000/weights.safetensors --weights-b theirs.npz",
          bench::comparison_options(),
          "",
          run_compare};
}

}  // namespace trireme::cli
