#include "train/sinks/console.h"

#include <fmt/core.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "base/error.h"
#include "base/system/clock.h"
#include "base/system/standard_streams.h"
#include "base/system/terminal.h"
#include "base/text/text.h"
#include "train/results/score_report.h"
#include "train/sinks/sinks.h"

namespace trireme::train {
namespace {

// Accuracy as a percentage; a dash if the loss has none.
std::string percent(double share) { return std::isnan(share) ? "-" : fmt::format("{:.2f} %", 100 * share); }

// The scores of the epoch table: their titles, and how they are written.
struct ScoreColumn {
  const char *name, *title;
  std::string (*text)(double score);
};

// Four decimals for ordinary losses, an exponent for diverged ones.
std::string loss_text(double loss) {
  return std::abs(loss) < 1e6 ? fmt::format("{:.4f}", loss) : fmt::format("{:.4g}", loss);
}

std::string r2_or_dash(double r2) { return std::isnan(r2) ? "-" : loss_text(r2); }

constexpr std::array kScoreColumns{ScoreColumn{"mae", "MAE", error_text}, ScoreColumn{"rmse", "RMSE", error_text},
                                   ScoreColumn{"r2", "R2", r2_or_dash}, ScoreColumn{"f1_micro", "F1", percent},
                                   ScoreColumn{"exact_match", "exact", percent}};

// The columns of the terminal; 1000 if unknown.
std::size_t columns(std::FILE* stream) {
  winsize size{};
  return ::ioctl(::fileno(stream), TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 1000;
}

std::string rate(double samples_per_second) {
  return samples_per_second >= 10000 ? fmt::format("{:.1f}k", samples_per_second / 1000)
                                     : fmt::format("{:.0f}", samples_per_second);
}

}  // namespace

Console::Console(std::FILE* stream) : stream_(stream), terminal_(base::can_redraw(stream)), last_ns_(base::now_ns()) {}

Console::~Console() {
  try {
    clear();
  } catch (const base::Error&) {  // nobody sees the output any more
  }
}

void Console::print(const std::string& text) { base::print_text(stream_, text); }

void Console::clear() {
  if (std::exchange(drawn_, false)) print("\r\x1b[K");
}

bool Console::wants(const observe::Event& event) const {
  return !std::holds_alternative<observe::PushDone>(event) && !std::holds_alternative<observe::ResourcesUsed>(event);
}

void Console::on(const observe::Event& event) {
  std::visit(
      base::Match{
          [&](const observe::RunStarted& run) { start(run); }, [&](const observe::StepDone& done) { step(done); },
          [&](const observe::EpochDone& done) { epoch(done); },
          [&](const observe::StoppedEarly& stopped) {
            line(fmt::format("stopped early: no better result for {}", base::counted(stopped.patience, "epoch")));
          },
          [&](const observe::HandedOver& hand_over) {
            const double seconds = 1e-9 * static_cast<double>(hand_over.end_ns - hand_over.start_ns);
            if (hand_over.is_switch)
              line(fmt::format("step {}: {} takes over, after {}", hand_over.step, hand_over.strategy,
                               base::human_seconds(seconds)));
          },
          [&](const observe::WorkerLost& lost) {
            line(fmt::format("step {}: {} is gone; going on with {}", lost.step, lost.who,
                             base::counted(lost.workers_left, "worker")));
          },
          [&](const observe::RolledBack& back) {
            if (!back.is_resume) line(fmt::format("back to step {}: the steps after it are made again", back.step));
          },
          [&](const observe::RunFinished& finished) {
            for (const std::string& text : finished.lines) line(text);
          },
          [&](const observe::ProfileDone& profile) {
            line("");
            for (const std::string& text : profile.lines) line(text);
          },
          [](const auto&) {}},
      event);
}

void Console::start(const observe::RunStarted& run) {
  line(fmt::format("{} ({} parameters) on {}: {} training, {}", run.model, run.parameters, run.data, run.train_samples,
                   base::counted(run.test_samples, "test sample")));
  std::string who = base::counted(run.threads[0], "thread");
  if (run.processes > 1) {
    const bool equal = std::ranges::all_of(run.threads, [&](int t) { return t == run.threads[0]; });
    who = base::counted(run.workers, "worker") + " with " + who + (equal ? " each" : " and others");
    if (run.servers > 0) who += " and " + base::counted(run.servers, "server");
    who += " (" + run.strategy + ")";
  }
  line(fmt::format("batch {} in {} on {}, {} an epoch, {} in all; run folder {}", run.batch,
                   base::counted(run.oars, "oar"), who, base::counted(run.steps_per_epoch, "step"),
                   base::counted(run.total_steps, "step"), run.folder));
  for (const std::string& note : run.notes) line("note: " + note);
}

void Console::line(const std::string& text) {
  clear();
  print(text + "\n");
}

void Console::step(const observe::StepDone& s) {
  const std::int64_t now = base::now_ns();
  if (now - last_ns_ < (terminal_ ? 100'000'000 : 10'000'000'000)) return;
  last_ns_ = now;
  const double done = static_cast<double>(s.step) / static_cast<double>(std::max<std::int64_t>(s.total_steps, 1));
  const std::string accuracy = std::isnan(s.epoch_accuracy) ? "" : "accuracy " + percent(s.epoch_accuracy) + "  ";
  const std::string text = fmt::format("epoch {}  step {}/{} ({:.0f} %)  {} left  loss {}  {}{} samples/s", s.epoch + 1,
                                       s.step, s.total_steps, 100 * done, base::human_seconds(s.seconds_left),
                                       loss_text(s.epoch_loss), accuracy, rate(s.samples_per_second));
  if (!terminal_) return line(text);
  clear();
  constexpr int kBar = 16;
  const int filled = static_cast<int>(done * kBar);
  const std::string bar = fmt::format("[{}{}] ", std::string(static_cast<std::size_t>(filled), '#'),
                                      std::string(static_cast<std::size_t>(kBar - filled), '.'));
  // A wrapped line cannot be redrawn in place, so without enough columns the bar is left out, then the text is cut.
  const std::size_t width = columns(stream_) - 1;
  const std::string whole = bar.size() + text.size() <= width ? bar + text : text.substr(0, width);
  print(whole);
  drawn_ = true;
}

void Console::epoch(const observe::EpochDone& e) {
  std::string header = "epoch", row = fmt::format("{:>5}", e.epoch + 1);
  const auto add = [&](const std::string& title, const std::string& text, std::size_t width = 10) {
    header += fmt::format("  {:>{}}", title, width);
    row += fmt::format("  {:>{}}", text, width);
  };
  const std::string held_out = e.is_validation ? "valid" : "test";
  const bool has_accuracy = !std::isnan(e.held_out_accuracy);
  add("train loss", loss_text(e.train_loss));
  if (has_accuracy) add("train acc.", percent(e.train_accuracy));
  add(held_out + " loss", loss_text(e.held_out_loss));
  if (has_accuracy) add(held_out + " acc.", percent(e.held_out_accuracy));
  for (const ScoreColumn& column : kScoreColumns)
    for (const observe::Score& score : e.held_out_scores)
      if (score.name == column.name) add(held_out + " " + column.title, column.text(score.value));
  add("lr", fmt::format("{:.2g}", e.lr), 8);
  add("samples/s", rate(e.samples_per_second), 9);
  add("time", base::human_seconds(e.seconds), 8);
  if (!table_started_) line(header);
  table_started_ = true;
  line(row + (e.is_best ? "  best" : ""));
}

std::unique_ptr<observe::EventSink> make_console_sink(const SinkContext& context) {
  if (context.is_quiet) return nullptr;
  return std::make_unique<Console>(context.is_json ? stderr : stdout);
}

}  // namespace trireme::train
