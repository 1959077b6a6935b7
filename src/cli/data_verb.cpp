// `trireme data`: describes a dataset (info), packs it into one file that all processes share (pack), or draws a
// contact sheet of it (show).
#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <optional>

#include "base/error.h"
#include "base/system/files.h"
#include "base/text/nearest.h"
#include "base/text/text.h"
#include "cli/cli.h"
#include "cli/data_options.h"
#include "data/dataset/columns.h"
#include "data/dataset/table_schema.h"
#include "data/open_data.h"
#include "data/readers/image_settings.h"
#include "data/readers/images/image_list.h"
#include "data/readers/images/image_survey.h"
#include "data/readers/packed.h"
#include "data/readers/table/csv.h"
#include "data/readers/table/table_options.h"
#include "data/show/contact_sheet.h"
#include "data/show/table_text.h"
#include "data/stages/prepare.h"
#include "train/evaluation/predictions.h"

namespace trireme::cli {
namespace {

using OrderedJson = nlohmann::ordered_json;
using Option = base::OptionSpec;

std::vector<Option> data_options() {
  constexpr const char* kWhich = "Which data";
  std::vector<Option> all{
      {kWhich, "data", "NAME", "fashion-mnist", "dataset (trireme list datasets), a file or a folder"},
      {kWhich, "data-dir", "DIR", "", "where the dataset lies; else TRIREME_DATA, else where Debian puts it"},
      {kWhich, "target", "KIND", "classes", "what files of your own ask for: classes, labels or values"},
      {kWhich, "image-size", "SIZE", "auto",
       "resize files of images to N (NxN) or ROWSxCOLUMNS; auto: one from their sizes, where these differ"},
      {kWhich, "skip-bad", "", "no", "leave images out that cannot be decoded, and count them"},
      {kWhich, "seed", "N", "1", "chooses the test set where the data has none, and what augmentation draws"},
      {"What to do", "to", "FILE", "", "the new file: .trireme (pack) or .png (show)"},
      {"What to do", "split", "train|test", "train", "which samples to show"},
      {"What to do", "augment", "LIST", "none", "show them as training sees them (trireme list augmentations)"},
      {"What to do", "epoch", "N", "0", "of which epoch, to see what augmentation draws"},
      {"What to do", "json", "", "no", "print what info finds as one JSON object"},
  };
  for (const std::span<const std::string_view> names :
       {std::span<const std::string_view>(kTableOptions), std::span<const std::string_view>(kImageOptions)}) {
    const std::vector<Option> of_train = options_of_train(kWhich, names);
    all.insert(all.begin() + 4, of_train.begin(), of_train.end());
  }
  return all;
}

data::DataRequest request_of(const base::Settings& settings) {
  data::DataRequest request;
  request.name = settings.text("data");
  request.data_dir = settings.text("data-dir");
  request.seed = static_cast<std::uint64_t>(settings.integer("seed", 0, std::int64_t{1} << 62));
  request.skip_bad = settings.flag("skip-bad");
  request.images = data::read_image_options(settings);
  const std::array<std::string, 3> kinds{"classes", "labels", "values"};
  request.wanted_target = *data::target_kind(settings.choice("target", kinds));
  request.table = data::table_options(settings);
  return request;
}

data::DataPair open_data(const data::Readers& readers, const base::Settings& settings) {
  const data::DataRequest request = request_of(settings);
  data::DataPair pair = data::open_dataset(readers, request);
  const std::vector<tensor::Shape>& shapes = pair.train->spec().inputs;
  if (const auto size = request.images.size;
      size && shapes != std::vector{tensor::Shape{shapes[0][0], size->rows, size->columns}})
    base::user_error("{} is for files of images, but '{}' holds samples of {}", settings.label("image-size"),
                     request.name, data::spec_text(pair.train->spec()));
  if (!settings.flag("json"))
    for (const std::string& note : pair.notes) fmt::print("note: {}\n", note);
  return pair;
}

// The name of a file to create, with this ending.
std::string new_file(const base::Settings& settings, const char* ending) {
  const std::string& name = settings.text("to");
  if (name.empty()) base::user_error("say where to write: --to FILE{}", ending);
  if (!name.ends_with(ending)) base::user_error("--to {} must end in {}", name, ending);
  base::check_new_file("--to", name);
  return name;
}

struct SetInfo {
  const char* name;
  const data::Dataset* set;
  std::vector<std::int64_t> counts;
};

std::vector<std::string> warnings(const SetInfo& info) {
  std::vector<std::string> all;
  if (info.set->size() == 0) all.push_back(fmt::format("the {} set is empty", info.name));
  if (info.set->spec().target == data::TargetKind::values) return all;
  for (std::size_t c = 0; c < info.counts.size(); ++c)
    if (info.counts[c] == 0)
      all.push_back(fmt::format("no {} sample has the class '{}'", info.name, train::class_name(info.set->spec(), c)));
  return all;
}

// What the files of both sets are, where samples are images of files.
std::optional<data::ImageSurvey> survey(const base::Settings& settings, const std::vector<SetInfo>& sets) {
  std::vector<base::fs::path> files;
  for (const SetInfo& info : sets)
    for (std::int64_t i = 0; i < info.set->size(); ++i)
      if (base::fs::path file = info.set->origin(i); data::is_image_name(file)) files.push_back(std::move(file));
  if (files.empty()) return {};
  return data::survey_images(files, data::read_image_options(settings).turn_upright);
}

void print_survey(const data::ImageSurvey& survey) {
  std::vector<std::string> modes;
  for (const auto& [mode, count] : survey.modes) modes.push_back(fmt::format("{} {}", count, mode));
  if (survey.deep > 0) modes.push_back(fmt::format("{} of 16 bits", survey.deep));
  if (survey.turned > 0) modes.push_back(fmt::format("{} with an EXIF orientation", survey.turned));
  fmt::print("  {}: {}\n", base::counted(survey.images, "file"), base::join(modes, ", "));
  const auto& sizes = survey.sizes;
  fmt::print("  {}{}\n", data::sizes_text(sizes),
             sizes.front() == sizes.back() ? "" : fmt::format(", median {}", data::size_text(sizes[sizes.size() / 2])));
}

OrderedJson survey_json(const data::ImageSurvey& survey) {
  OrderedJson json{
      {"files", survey.images}, {"modes", survey.modes}, {"bits16", survey.deep}, {"exif_turned", survey.turned}};
  for (const data::ImageSize& size : survey.sizes) {
    auto& list = json["sizes"];
    if (!list.empty() && list.back()["rows"] == size.rows && list.back()["columns"] == size.columns)
      list.back()["files"] = list.back()["files"].get<std::int64_t>() + 1;
    else
      list.push_back({{"rows", size.rows}, {"columns", size.columns}, {"files", 1}});
  }
  return json;
}

// The columns of a text table; empty for all other data. `spec`: of the dataset that it became, null if it became none.
std::optional<data::TableSummary> columns_of(const data::Readers& readers, const base::Settings& settings,
                                             const data::DataSpec* spec) {
  data::DataRequest request = request_of(settings);
  request.codecs = readers.codecs;
  std::error_code ignored;
  if (readers.datasets.find(request.name) || !base::fs::exists(request.name, ignored) || !data::is_table(request))
    return {};
  const data::TableFile file{request.codecs, request.name};
  if (!spec) return data::describe_table(file);
  return data::describe_table(file, spec->schema && !spec->schema->targets[0].name.empty());
}

// Opens the data; a table that cannot be trained on as it is, is described before the error.
data::DataPair open_or_describe(const data::Readers& readers, const base::Settings& settings) {
  try {
    return open_data(readers, settings);
  } catch (const base::Error& error) {
    if (error.kind() != base::ErrorKind::user || settings.flag("json")) throw;
    if (const auto columns = columns_of(readers, settings, nullptr))
      for (const std::string& line : data::column_lines(*columns, nullptr)) fmt::print("  {}\n", line);
    throw;
  }
}

void print_info(const base::Settings& settings, const std::vector<SetInfo>& sets, const data::Normalization& normal,
                const std::optional<data::TableSummary>& columns) {
  const data::DataSpec& spec = sets[0].set->spec();
  fmt::print("{}: {}\n", settings.text("data"), data::spec_text(spec));
  for (const SetInfo& info : sets)
    fmt::print("  {:<6} {:>9} {}\n", info.name, info.set->size(), info.set->size() == 1 ? "sample" : "samples");
  if (const auto images = survey(settings, sets)) print_survey(*images);
  if (columns)
    for (const std::string& line : data::column_lines(*columns, &spec)) fmt::print("  {}\n", line);
  for (std::size_t i = 0; i < normal.inputs.size() && !columns; ++i)
    for (std::size_t c = 0; c < normal.inputs[i].mean.size(); ++c)
      fmt::print("  input {} {} {}: mean {:.4f}, deviation {:.4f}\n", i + 1, spec.table ? "column" : "channel", c + 1,
                 normal.inputs[i].mean[c], normal.inputs[i].divisor[c]);
  if (spec.target != data::TargetKind::values) {
    fmt::print("  {:<20} {:>9} {:>9}\n", spec.target == data::TargetKind::classes ? "class" : "label", sets[0].name,
               sets[1].name);
    for (std::size_t c = 0; c < sets[0].counts.size(); ++c)
      fmt::print("  {:<20} {:>9} {:>9}\n", train::class_name(spec, c), sets[0].counts[c], sets[1].counts[c]);
  }
  for (const SetInfo& info : sets)
    for (const std::string& warning : warnings(info)) fmt::print("  warning: {}\n", warning);
}

OrderedJson info_json(const base::Settings& settings, const std::vector<SetInfo>& sets,
                      const data::Normalization& normal, const std::optional<data::TableSummary>& columns) {
  const data::DataSpec& spec = sets[0].set->spec();
  OrderedJson json{{"data", settings.text("data")}, {"classes", spec.classes}, {"class_names", spec.class_names}};
  for (const tensor::Shape& shape : spec.inputs) json["inputs"].push_back(shape.sizes());
  for (const SetInfo& info : sets) {
    json[info.name] = {{"samples", info.set->size()}, {"counts", info.counts}};
    for (const std::string& warning : warnings(info)) json["warnings"].push_back(warning);
  }
  if (const auto images = survey(settings, sets)) json["images"] = survey_json(*images);
  for (const data::InputNormalization& input : normal.inputs)
    json["statistics"].push_back({{"mean", input.mean}, {"deviation", input.divisor}});
  if (columns) json["columns"] = OrderedJson::parse(data::columns_json(*columns, spec));
  return json;
}

void info(const data::Readers& readers, const base::Settings& settings) {
  const std::string& name = settings.text("data");
  if (name.ends_with(data::kPackedEnding)) data::verify_packed(name);
  const data::DataPair pair = open_or_describe(readers, settings);
  const std::vector<SetInfo> sets{{"train", pair.train.get(), data::class_counts(*pair.train)},
                                  {"test", pair.test.get(), data::class_counts(*pair.test)}};
  const data::Normalization normal = data::compute_normalization(pair.train, "standard");
  const std::optional<data::TableSummary> columns = columns_of(readers, settings, &pair.train->spec());
  if (settings.flag("json"))
    fmt::print("{}\n", info_json(settings, sets, normal, columns).dump());
  else
    print_info(settings, sets, normal, columns);
}

void pack(const data::Readers& readers, const base::Settings& settings) {
  const std::string file = new_file(settings, data::kPackedEnding);
  const data::DataPair pair = open_data(readers, settings);
  data::write_packed(file, pair);
  fmt::print("{}: {} training and {} of {}, {:.1f} MB; use it with --data {}\n", file, pair.train->size(),
             base::counted(pair.test->size(), "test sample"), data::spec_text(pair.train->spec()),
             1e-6 * static_cast<double>(base::fs::file_size(file)),
             file.find('/') == std::string::npos ? "./" + file : file);
}

void show(const data::Readers& readers, const base::Settings& settings) {
  const std::string file = new_file(settings, ".png");
  const data::Augmentation augmentation = data::parse_augmentation(settings.text("augment"));
  const std::array<std::string, 2> splits{"train", "test"};
  const bool train = settings.choice("split", splits) == "train";
  data::SheetOptions options;
  options.random = {static_cast<std::uint64_t>(settings.integer("seed", 0, std::int64_t{1} << 62)),
                    static_cast<std::uint64_t>(settings.integer("epoch", 0, std::int64_t{1} << 62))};
  const data::DataPair pair = open_data(readers, settings);
  data::check_augmentation_fits(augmentation, pair.train->spec().inputs);
  // Byte images keep their range 0 ... 255, even if augmentation has converted them to floats.
  const data::Columns* columns = pair.train->columns();
  if (columns != nullptr && columns->inputs[0].type == data::ValueType::byte)
    options.range = data::SheetOptions::Range{};
  const data::DatasetPtr set = data::prepare(train ? pair.train : pair.test, augmentation, {});
  const data::ContactSheet sheet = data::contact_sheet(*set, options);
  base::write_file_atomically(file, std::as_bytes(std::span(sheet.png)));
  for (const std::string& note : sheet.notes) fmt::print("note: {}\n", note);
  fmt::print("{}: {} of {} samples\n", file, std::min(options.columns * options.rows, set->size()), set->size());
}

struct DataCommand {
  const char* name;
  void (*run)(const data::Readers& readers, const base::Settings& settings);
};
constexpr std::array kDataCommands{DataCommand{"info", info}, DataCommand{"pack", pack}, DataCommand{"show", show}};

std::vector<std::string> data_command_names() {
  std::vector<std::string> names;
  for (const DataCommand& each : kDataCommands) names.emplace_back(each.name);
  return names;
}

int run_data(const train::Registry& registry, const base::Settings& settings, const Arguments& arguments) {
  const std::string word = first_of(arguments);
  for (const DataCommand& each : kDataCommands) {
    if (word != each.name) continue;
    each.run(registry.readers, settings);
    return 0;
  }
  if (word.empty()) base::user_error("say what to do: {}", base::join_or(data_command_names()));
  base::user_error("{}", base::unknown_name("data command", word, data_command_names()));
}

}  // namespace

Verb data_verb() {
  static const std::vector<Option> options = data_options();
  return {"data",
          "look at a dataset (info, show), or pack it into one file that processes share (pack)",
          "Examples:\n"
          "  trireme data info --data fashion-mnist\n"
          "  trireme data pack --data cifar10 --to cifar10.trireme\n"
          "  trireme data show --data cifar10 --augment crop,flip --to cifar10.png",
          options,
          "what",
          run_data,
          {},
          data_command_names()};
}

}  // namespace trireme::cli
