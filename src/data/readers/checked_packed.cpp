#include "data/readers/checked_packed.h"

#include <atomic>
#include <future>
#include <thread>
#include <utility>

#include "base/error.h"
#include "base/error_of.h"
#include "data/readers/packed.h"

namespace trireme::data {
namespace {

// Compares the checksums of a file in a thread of its own, which ends with this object.
class BackgroundCheck {
 public:
  explicit BackgroundCheck(const std::filesystem::path& path) {
    is_done_ = done_.get_future();
    thread_ = std::thread([this, path] {
      try {
        verify_packed(path, [this] { return stop_.load(std::memory_order_relaxed); });
      } catch (...) {
        sentence_ = base::error_of(std::current_exception()).what();
        is_damaged_.store(true, std::memory_order_release);
      }
      done_.set_value();
    });
  }
  ~BackgroundCheck() {
    stop_ = true;
    thread_.join();
  }
  BackgroundCheck(const BackgroundCheck&) = delete;
  BackgroundCheck& operator=(const BackgroundCheck&) = delete;

  void wait_for(std::chrono::milliseconds patience) const { is_done_.wait_for(patience); }
  void throw_if_damaged() const {
    if (is_damaged_.load(std::memory_order_acquire)) [[unlikely]]
      base::user_error("{}", sentence_);
  }

 private:
  std::promise<void> done_;
  std::future<void> is_done_;
  std::string sentence_;  // written before is_damaged_
  std::atomic<bool> is_damaged_{false}, stop_{false};
  std::thread thread_;
};

// A dataset whose samples are there until the check finds damage.
class CheckedSource : public Dataset {
 public:
  CheckedSource(DatasetPtr source, std::shared_ptr<const BackgroundCheck> check)
      : source_(std::move(source)), check_(std::move(check)) {}

  const DataSpec& spec() const override { return source_->spec(); }
  std::int64_t size() const override { return source_->size(); }
  std::string origin(std::int64_t index) const override { return source_->origin(index); }
  const Columns* columns() const override { return source_->columns(); }
  void fetch(std::int64_t index, const AugmentationSeed& random, std::span<float* const> inputs,
             float* target) const override {
    check_->throw_if_damaged();
    source_->fetch(index, random, inputs, target);
  }
  bool view(std::int64_t index, std::span<StoredValues> inputs, float* target) const override {
    check_->throw_if_damaged();
    return source_->view(index, inputs, target);
  }

 private:
  DatasetPtr source_;
  std::shared_ptr<const BackgroundCheck> check_;
};

}  // namespace

DataPair open_checked_packed(const std::filesystem::path& path, std::chrono::milliseconds patience) {
  DataPair pair = open_packed(path);
  const auto check = std::make_shared<const BackgroundCheck>(path);
  check->wait_for(patience);
  check->throw_if_damaged();
  for (DatasetPtr* set : {&pair.train, &pair.test}) *set = std::make_shared<CheckedSource>(std::move(*set), check);
  return pair;
}

}  // namespace trireme::data
