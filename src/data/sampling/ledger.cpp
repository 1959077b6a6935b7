#include "data/sampling/ledger.h"

#include <fmt/format.h>

#include <bit>
#include <charconv>

#include "base/error.h"
#include "base/rng.h"
#include "base/text/text.h"

namespace trireme::data {
namespace {

std::size_t words(std::int64_t samples) { return static_cast<std::size_t>((samples + 63) / 64); }

std::string hex(const std::vector<std::uint64_t>& bits) {
  std::string text;
  for (const std::uint64_t word : bits) text += fmt::format("{:016x}", word);
  return text;
}

std::uint64_t number(std::string_view text, int base) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (error != std::errc() || end != text.data() + text.size())
    base::user_error("the ledger of the checkpoint is damaged at '{}'", text.substr(0, 32));
  return value;
}

std::vector<std::uint64_t> from_hex(std::string_view text, std::size_t count) {
  if (text.size() != 16 * count) base::user_error("the ledger of the checkpoint belongs to a set of another size");
  std::vector<std::uint64_t> bits;
  for (std::size_t w = 0; w < count; ++w) bits.push_back(number(text.substr(16 * w, 16), 16));
  return bits;
}

}  // namespace

Ledger::Ledger(std::int64_t samples) : once_(words(samples)), again_(words(samples)), samples_(samples) {}

void Ledger::use(std::int64_t first, std::span<const std::int64_t> indices) {
  for (const std::int64_t index : indices) {
    base::check(index >= 0 && index < samples_, "sample {} of {} in the ledger", index, samples_);
    const auto word = static_cast<std::size_t>(index / 64);
    const std::uint64_t bit = std::uint64_t{1} << (index % 64);
    again_[word] |= once_[word] & bit;
    once_[word] |= bit;
    // A commutative sum, so that parts can be added in any order.
    order_ += base::mix64(base::mix64(static_cast<std::uint64_t>(first++) + base::kGolden) ^
                          static_cast<std::uint64_t>(index));
  }
  used_ += static_cast<std::int64_t>(indices.size());
}

void Ledger::add(const Ledger& other) {
  base::check(other.samples_ == samples_, "ledgers of {} and {} samples", samples_, other.samples_);
  for (std::size_t w = 0; w < once_.size(); ++w) {
    again_[w] |= other.again_[w] | (once_[w] & other.once_[w]);
    once_[w] |= other.once_[w];
  }
  used_ += other.used_;
  order_ += other.order_;
}

LedgerReport Ledger::report() const {
  LedgerReport report;
  report.samples = samples_;
  report.used = used_;
  for (std::size_t w = 0; w < once_.size(); ++w) {
    report.once += std::popcount(once_[w] & ~again_[w]);
    report.repeated += std::popcount(again_[w]);
  }
  report.order = fmt::format("{:016x}", order_);
  return report;
}

void Ledger::clear() { *this = Ledger(samples_); }

std::string Ledger::text() const { return fmt::format("{} {:x} {} {}", used_, order_, hex(once_), hex(again_)); }

void Ledger::restore(std::string_view text) {
  const std::vector<std::string> parts = base::split(text, ' ');
  if (parts.size() != 4) base::user_error("the ledger of the checkpoint is damaged");
  used_ = static_cast<std::int64_t>(number(parts[0], 10));
  order_ = number(parts[1], 16);
  once_ = from_hex(parts[2], words(samples_));
  again_ = from_hex(parts[3], words(samples_));
}

}  // namespace trireme::data
