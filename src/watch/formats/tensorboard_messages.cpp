#include "watch/formats/tensorboard_messages.h"

#include <fmt/core.h>

#include <charconv>
#include <cmath>
#include <optional>

#include "watch/formats/little_endian.h"

namespace trireme::watch {
namespace {

// The numbers of fields and enumerators, as the .proto files have them.
namespace event {
constexpr int kWallTime = 1, kStep = 2, kFileVersion = 3, kSummary = 5, kSessionLog = 7;
constexpr int kSessionStatus = 1, kSessionStart = 1;
}  // namespace event
namespace summary {
constexpr int kValue = 1;
constexpr int kTag = 1, kSimpleValue = 2, kTensor = 8, kMetadata = 9;
constexpr int kPluginData = 1, kDataClass = 4, kPluginName = 1, kPluginContent = 2;
enum DataClass : std::uint8_t { kTensorClass = 2, kBlobClass = 3 };
}  // namespace summary
namespace tensor {
constexpr int kType = 1, kShape = 2, kContent = 4, kStrings = 8, kDim = 2, kSize = 1;
enum Type : std::uint8_t { kFloat = 1, kDouble = 2, kString = 7 };
}  // namespace tensor
namespace hparams {
constexpr int kExperiment = 2, kSessionStartInfo = 3, kSessionEndInfo = 4;  // of the plugin's data
constexpr int kTimeCreated = 3, kHparamInfos = 4, kMetricInfos = 5;         // of the experiment
constexpr int kName = 1, kHparamType = 4, kMetricTag = 2;
enum HparamType : std::uint8_t { kText = 1, kBool = 2, kNumber = 3 };
constexpr int kHparams = 1, kGroupName = 4, kStartTime = 5, kKey = 1, kMapValue = 2;  // of the start
constexpr int kNumberValue = 2, kStringValue = 3, kBoolValue = 4;
constexpr int kStatus = 1, kEndTime = 2, kSuccess = 1, kFailure = 2;
}  // namespace hparams

ProtoMessage shape_of(std::initializer_list<std::int64_t> sizes) {
  ProtoMessage shape;
  for (const std::int64_t size : sizes) shape.message(tensor::kDim, ProtoMessage().integer(tensor::kSize, size));
  return shape;
}

ProtoMessage tensor_value(std::string_view tag, std::string_view plugin, summary::DataClass data_class,
                          const ProtoMessage& tensor, const ProtoMessage& plugin_content = {}) {
  const ProtoMessage metadata =
      ProtoMessage()
          .message(summary::kPluginData,
                   ProtoMessage().text(summary::kPluginName, plugin).message(summary::kPluginContent, plugin_content))
          .integer(summary::kDataClass, data_class);
  return ProtoMessage()
      .text(summary::kTag, tag)
      .message(summary::kTensor, tensor)
      .message(summary::kMetadata, metadata);
}

// What HParams pages show is in the plugin's data; the tensor is an empty one.
ProtoMessage hparams_value(const char* tag, int field, const ProtoMessage& info) {
  return tensor_value(tag, "hparams", summary::kTensorClass,
                      ProtoMessage().integer(tensor::kType, tensor::kFloat).message(tensor::kShape, shape_of({0})),
                      ProtoMessage().message(field, info));
}

std::optional<double> as_number(const std::string& text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(value)) return std::nullopt;
  return value;
}

bool is_yes_or_no(const std::string& text) { return text == "yes" || text == "no"; }

}  // namespace

ProtoMessage version_event(double unix_seconds) {
  return ProtoMessage().number(event::kWallTime, unix_seconds).text(event::kFileVersion, "brain.Event:2");
}

ProtoMessage start_event(const EventStamp& stamp) {
  return ProtoMessage()
      .number(event::kWallTime, stamp.unix_seconds)
      .integer(event::kStep, stamp.step)
      .message(event::kSessionLog, ProtoMessage().integer(event::kSessionStatus, event::kSessionStart));
}

ProtoMessage summary_event(const EventStamp& stamp, const std::vector<ProtoMessage>& values) {
  ProtoMessage all;
  for (const ProtoMessage& value : values) all.message(summary::kValue, value);
  return ProtoMessage()
      .number(event::kWallTime, stamp.unix_seconds)
      .integer(event::kStep, stamp.step)
      .message(event::kSummary, all);
}

ProtoMessage scalar_value(std::string_view tag, double value) {
  return ProtoMessage().text(summary::kTag, tag).single(summary::kSimpleValue, static_cast<float>(value));
}

ProtoMessage text_value(std::string_view tag, std::string_view markdown) {
  return tensor_value(tag, "text", summary::kTensorClass,
                      ProtoMessage()
                          .integer(tensor::kType, tensor::kString)
                          .message(tensor::kShape, shape_of({}))
                          .text(tensor::kStrings, markdown));
}

// A row per interval: its left and its right edge, and how many values are in it.
ProtoMessage histogram_value(std::string_view tag, const observe::Histogram& histogram) {
  const std::size_t intervals = histogram.counts.size();
  const auto edge = [&](std::size_t i) {
    if (i == intervals) return histogram.high;
    return histogram.low + (histogram.high - histogram.low) * static_cast<double>(i) / static_cast<double>(intervals);
  };
  std::string rows;
  for (std::size_t i = 0; i < intervals; ++i)
    for (const double number : {edge(i), edge(i + 1), static_cast<double>(histogram.counts[i])})
      append_little_endian(rows, number);
  return tensor_value(tag, "histograms", summary::kTensorClass,
                      ProtoMessage()
                          .integer(tensor::kType, tensor::kDouble)
                          .message(tensor::kShape, shape_of({static_cast<std::int64_t>(intervals), 3}))
                          .text(tensor::kContent, rows));
}

ProtoMessage image_value(std::string_view tag, std::int64_t width, std::int64_t height, std::string_view png) {
  return tensor_value(tag, "images", summary::kBlobClass,
                      ProtoMessage()
                          .integer(tensor::kType, tensor::kString)
                          .message(tensor::kShape, shape_of({3}))
                          .text(tensor::kStrings, std::to_string(width))
                          .text(tensor::kStrings, std::to_string(height))
                          .text(tensor::kStrings, png));
}

ProtoMessage experiment_value(double unix_seconds, const std::map<std::string, std::string>& options,
                              const std::vector<std::string>& metric_tags) {
  ProtoMessage experiment;
  experiment.number(hparams::kTimeCreated, unix_seconds);
  for (const auto& [name, value] : options) {
    const auto type = is_yes_or_no(value) ? hparams::kBool : as_number(value) ? hparams::kNumber : hparams::kText;
    experiment.message(hparams::kHparamInfos,
                       ProtoMessage().text(hparams::kName, name).integer(hparams::kHparamType, type));
  }
  for (const std::string& tag : metric_tags)
    experiment.message(hparams::kMetricInfos,
                       ProtoMessage().message(hparams::kName, ProtoMessage().text(hparams::kMetricTag, tag)));
  return hparams_value("_hparams_/experiment", hparams::kExperiment, experiment);
}

ProtoMessage session_start_value(double unix_seconds, std::string_view group,
                                 const std::map<std::string, std::string>& options) {
  ProtoMessage start;
  for (const auto& [name, text] : options) {
    ProtoMessage value;
    if (is_yes_or_no(text))
      value.integer(hparams::kBoolValue, text == "yes" ? 1 : 0);
    else if (const auto number = as_number(text))
      value.number(hparams::kNumberValue, *number);
    else
      value.text(hparams::kStringValue, text);
    start.message(hparams::kHparams, ProtoMessage().text(hparams::kKey, name).message(hparams::kMapValue, value));
  }
  start.text(hparams::kGroupName, group).number(hparams::kStartTime, unix_seconds);
  return hparams_value("_hparams_/session_start_info", hparams::kSessionStartInfo, start);
}

ProtoMessage session_end_value(double unix_seconds, bool is_success) {
  return hparams_value("_hparams_/session_end_info", hparams::kSessionEndInfo,
                       ProtoMessage()
                           .integer(hparams::kStatus, is_success ? hparams::kSuccess : hparams::kFailure)
                           .number(hparams::kEndTime, unix_seconds));
}

}  // namespace trireme::watch
