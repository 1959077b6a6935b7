#include "train/experiment/experiment.h"

#include <algorithm>
#include <array>
#include <bit>

#include "base/cpu/simd.h"
#include "base/error.h"
#include "base/hash.h"
#include "base/system/files.h"
#include "base/text/text.h"
#include "data/loading/loader.h"
#include "data/open_data.h"
#include "data/readers/image_settings.h"
#include "data/readers/table/table_options.h"
#include "data/stages/prepare.h"
#include "data/stages/resize.h"
#include "data/stages/subset.h"
#include "data/stages/target_scale.h"
#include "ops/norm/batch_norm.h"
#include "train/experiment/class_weights.h"
#include "train/experiment/data_hints.h"
#include "train/experiment/freeze.h"
#include "train/experiment/target_scale.h"

namespace trireme::train {
namespace {

constexpr const char* kInitialiser = "pytorch";
constexpr std::int64_t kMany = std::int64_t{1} << 40;

data::TargetKind parse_target(const base::Settings& settings) {
  const std::array<std::string, 3> words{"classes", "labels", "values"};
  return *data::target_kind(settings.choice("target", words));
}

// The first samples of a set, as many as an option asks for; 0: all. `may_be_fewer`: for the settings of an existing
// run, which may ask for more samples than the set has.
data::DatasetPtr first_samples(const base::Settings& settings, const char* option, const data::DatasetPtr& set,
                               bool may_be_fewer) {
  const std::int64_t wanted = settings.integer(option, 0, kMany);
  if (wanted > set->size() && !may_be_fewer)
    base::user_error("{} is {}, but '{}' has {} such samples; use that many or fewer, or 0 for all",
                     settings.label(option), wanted, settings.text("data"), set->size());
  return wanted > 0 ? data::limit(set, wanted) : set;
}

// Sets train, validation (if a share is kept) and test to datasets of unprocessed samples. Returns whether the data is
// one of the list of datasets.
bool open_data(const data::Readers& readers, const base::Settings& settings, const models::ModelRow& model, bool is_new,
               const GivenParts& given, Experiment& e) {
  const SavedData* saved = given.data;
  data::DataRequest request;
  request.name = settings.text("data");
  request.data_dir = settings.text("data-dir");
  request.seed = e.seed;
  request.train_samples = settings.integer("train-samples", 0, kMany);
  request.test_samples = settings.integer("test-samples", 0, kMany);
  // A network for any shape takes samples as they are, and as many classes as there are.
  const bool as_it_is = model.any_shape && request.name != "synthetic";
  if (!as_it_is) request.wanted_inputs = model.inputs;
  request.images = data::read_image_options(settings);
  if (const auto size = request.images.size; size && request.name != "synthetic")
    for (tensor::Shape& shape : request.wanted_inputs)
      if (shape.rank() == 3) shape = {shape[0], size->rows, size->columns};
  if (!as_it_is) request.wanted_classes = model.classes;
  request.wanted_target = parse_target(settings);
  request.skip_bad = settings.flag("skip-bad");
  request.table = data::table_options(settings);
  request.schema = given.schema;
  e.distribution = data::parse_distribution(settings.text("distribute"));
  data::DataPair pair = saved ? saved->open(request) : data::open_dataset(readers, request);
  if (readers.datasets.find(request.name) == nullptr) e.data_path = base::absolute_path(request.name);
  e.data_spec = pair.train->spec();
  e.images = pair.images;
  if (const data::TargetKind has = pair.train->spec().target; has != request.wanted_target && settings.is_set("target"))
    base::user_error("{} is '{}', but '{}' has {}", settings.label("target"), settings.text("target"), request.name,
                     data::target_name(has));
  e.notes.insert(e.notes.end(), pair.notes.begin(), pair.notes.end());
  e.train = first_samples(settings, "train-samples", pair.train, !is_new);
  e.test = first_samples(settings, "test-samples", pair.test, !is_new);
  e.validation_plan = plan_validation(settings, !pair.dataset.empty(), e.train->size());
  if (e.validation_plan.best_on == BestOn::validation) {
    const data::DataPair parts = keep_validation(e.validation_plan, e.train, e.seed);
    e.train = parts.train;
    e.validation = parts.test;
  }
  e.notes.insert(e.notes.end(), e.validation_plan.notes.begin(), e.validation_plan.notes.end());
  return !pair.dataset.empty();
}

// Augments the training set and normalises all sets by the training set's statistics, or by those of a saved run.
void prepare_data(const base::Settings& settings, const data::Normalization* known, Experiment& e) {
  const auto augmentation = data::parse_augmentation(settings.text("augment"));
  std::string kind = settings.text("normalize");
  if (kind == "auto") kind = settings.text("data") == "synthetic" ? "none" : "standard";
  e.normalization = known ? *known : data::compute_normalization(e.train, kind);
  if (!known) data::check_augmentation_fits(augmentation, e.train->spec().inputs);
  e.train = data::prepare(e.train, augmentation, e.normalization);
  e.test = data::normalize(e.test, e.normalization);
  if (e.validation) e.validation = data::normalize(e.validation, e.normalization);
}

// Builds the network for the shapes of the samples. Images that are too small are enlarged to the network's usual size.
void fit_network(const models::ModelRow& model, const base::Settings& settings, const SavedData* saved, Experiment& e) {
  const auto build = [&] {
    const data::DataSpec& spec = e.train->spec();
    e.network = models::build_model(
        model, {.inputs = spec.inputs, .classes = spec.classes, .target = data::target_name(spec.target)});
  };
  const data::ImageOptions images = data::read_image_options(settings);
  const auto resize = [&](std::int64_t height, std::int64_t width) {
    const tensor::Shape& has = e.train->spec().inputs[0];
    if (!saved && !e.images && images.fit != data::ImageFit::stretch && has.rank() == 3 &&
        (has[1] != height || has[2] != width))
      base::user_error("{} '{}' is for files of images; those of '{}' have one size and are stretched",
                       settings.label("image-fit"), settings.text("image-fit"), settings.text("data"));
    for (data::DatasetPtr* set : {&e.train, &e.validation, &e.test})
      if (*set) *set = data::resize(*set, height, width);
  };
  if (saved) {
    const tensor::Shape& taken = saved->samples.network_inputs[0];
    if (taken.rank() == 3 && e.train->spec().inputs != saved->samples.network_inputs) resize(taken[1], taken[2]);
    return build();
  }
  if (images.size) {
    resize(images.size->rows, images.size->columns);
    return build();
  }
  try {
    build();
  } catch (const base::Error& error) {
    const tensor::Shape& has = e.train->spec().inputs[0];
    const tensor::Shape made_for = model.inputs.empty() ? tensor::Shape() : model.inputs[0];
    const bool smaller = has.rank() == 3 && made_for.rank() == 3 && (has[1] < made_for[1] || has[2] < made_for[2]);
    if (error.kind() != base::ErrorKind::user || !smaller) throw;
    resize(made_for[1], made_for[2]);
    try {
      build();
    } catch (const base::Error&) {
      base::user_error("{}", error.what());  // the first error: the image size was not the cause
    }
  }
}

// Adds a note when a batch norm has so few values per channel and oar that its statistics are noise.
void warn_of_small_norms(const graph::Network& network, std::int64_t smallest_oar, std::vector<std::string>& notes) {
  for (const graph::Node& node : network.nodes()) {
    if (!node.op || node.op->statistics_momentum() == 0) continue;
    const std::int64_t values = smallest_oar * node.shape.count_from(1);
    if (values >= 8) continue;
    notes.push_back(
        fmt::format("batch norm '{}' sees only {} values per channel and oar; use fewer --oars or a larger --batch",
                    node.name, values));
    return;
  }
}

// The network's own batch. Of a training set that is smaller, a power of two that gives it four steps an epoch or more.
std::int64_t default_batch(const models::ModelRow& model, Experiment& e) {
  const std::int64_t samples = e.train->size();
  if (model.batch <= samples) return model.batch;
  const auto batch =
      static_cast<std::int64_t>(std::bit_floor(static_cast<std::uint64_t>(std::max<std::int64_t>(samples / 4, 1))));
  e.notes.push_back(
      fmt::format("the training set has {}, fewer than the batch of {} that {} has; this run takes {} (--batch)",
                  base::counted(samples, "sample"), model.batch, model.name, batch));
  return batch;
}

void plan_threads(const base::Settings& settings, const HostNeighbours& neighbours, Experiment& e) {
  e.cores = base::plan_cores();
  const auto asked = static_cast<int>(settings.integer("threads", 0, 4096));
  const int per_oar = static_cast<int>(settings.integer("threads-per-oar", 1, 1024));
  const int oars = (e.oars + neighbours.workers - 1) / neighbours.workers;  // the most of any worker, with even shares
  const int cores = std::max(e.cores.usable / neighbours.here, 1);
  e.threads = asked > 0 ? asked : std::clamp(cores / per_oar, 1, oars);
  const int others = neighbours.workers;
  if (e.threads > oars) {
    e.notes.push_back(
        fmt::format("{} threads have only {} oars to compute; --oars {} would use them all (and is another experiment)",
                    e.threads, oars, std::bit_ceil(static_cast<unsigned>(e.threads * others))));
    e.threads = oars;
  } else if (asked == 0 && cores > oars * per_oar) {
    e.notes.push_back(
        fmt::format("this machine could run {} threads, the {} oars use {}; --oars {} would use them all "
                    "(and is another experiment)",
                    cores, oars, e.threads, std::bit_floor(static_cast<unsigned>(cores * others))));
  }
  const int all = e.threads * per_oar * neighbours.here;
  if (all > e.cores.usable) e.notes.push_back(fmt::format("{} threads share {} cores", all, e.cores.usable));
  if (per_oar > 1)
    e.notes.push_back(fmt::format("with --threads-per-oar {} the bits also depend on that number", per_oar));

  const std::array<std::string, 3> pin{"auto", "yes", "no"};
  const std::string& wanted = settings.choice("pin", pin);
  const int pinned = e.threads * neighbours.here;
  if (wanted == "yes" && pinned > static_cast<int>(e.cores.cpus.size()))
    base::user_error("--pin yes needs a core per thread: {} threads, {} cores", pinned, e.cores.cpus.size());
  if (per_oar == 1 && wanted != "no") {
    const std::vector<int> cpus = wanted == "yes" ? e.cores.cpus : base::cpus_to_pin(e.cores, pinned);
    const auto first = static_cast<std::size_t>(e.threads * neighbours.index);
    for (std::size_t i = first; i < first + static_cast<std::size_t>(e.threads) && i < cpus.size(); ++i)
      e.crew_options.cpus.push_back(cpus[i]);
  }
  e.crew_options.may_spin = all <= e.cores.usable;
  e.crew_options.threads = e.threads;
  e.crew_options.threads_per_oar = per_oar;
  e.crew_options.share.oars = base::oars_of_worker(0, neighbours.workers, e.oars);
}

}  // namespace

Experiment resolve(const Registry& registry, const base::Settings& settings, const GivenParts& given,
                   const HostNeighbours& neighbours) {
  const data::Normalization* known = given.normalization;
  Experiment e;
  base::set_active_isa(base::parse_isa(settings.text("isa")));
  e.seed = static_cast<std::uint64_t>(settings.integer("seed", 0, kMany));
  const std::optional<ModelText> file = given.model ? given.model : read_model_file(settings);
  const models::ModelRow model = choose_model(registry, settings, file);
  e.is_in_zoo = !file && models::is_in_zoo(model.name);
  const bool has_name = open_data(registry.readers, settings, model, known == nullptr, given, e);
  e.crew_options.class_weights =
      class_weights(settings.label("class-weights"), settings.text("class-weights"), *e.train);
  if (!e.crew_options.class_weights.empty())
    e.notes.push_back(class_weights_note(e.train->spec(), e.crew_options.class_weights));
  const data::DatasetPtr unprocessed = e.train;
  prepare_data(settings, known, e);
  fit_network(model, settings, given.data, e);
  data::check_target_scale(given.target_scale, e.train->spec());
  e.target_scale =
      known ? given.target_scale : choose_target_scale(settings, has_name, *unprocessed, e.network, e.notes);
  if (const std::string& style = settings.text("init"); style != "auto") e.network.set_initialiser(style);
  if (e.network.initialiser().empty()) e.network.set_initialiser(kInitialiser);
  if (!known && !has_name) {
    const std::vector<std::string> hints = data_hints(*unprocessed, e.normalization, e.target_scale);
    e.notes.insert(e.notes.end(), hints.begin(), hints.end());
  }
  const graph::Network& net = e.network;
  if (const auto loss = net.nodes()[static_cast<std::size_t>(net.loss())].op->kind();
      !e.crew_options.class_weights.empty() && loss != "softmax_cross_entropy")
    base::user_error("{} is for networks that end in softmax_cross_entropy, but {} ends in {}; use none",
                     settings.label("class-weights"), net.name(), loss);
  if (const std::string note = freeze_layers(settings.label("freeze"), settings.text("freeze"), e.network);
      !note.empty())
    e.notes.push_back(settings.text("init-from").empty() ? note + ", at their random start: there is no --init-from"
                                                         : note);

  e.batch = settings.integer("batch", 0, kMany);
  if (e.batch == 0) e.batch = default_batch(model, e);
  const std::array<std::string, 2> last{"keep", "drop"};
  e.drop_last = settings.choice("last-batch", last) == "drop";
  if (!known && e.batch > e.train->size())
    base::user_error("a batch of {} samples is more than the {} of the training set; use --batch {} or fewer", e.batch,
                     e.train->size(), e.train->size());
  data::Distribution(*e.train, e.distribution, e.batch, e.seed, true);  // reports mistakes in the distribution now
  e.steps_per_epoch = data::batches_per_epoch(e.train->size(), e.batch, e.drop_last);
  const std::int64_t steps = settings.integer("steps", 0, kMany);
  e.total_steps = steps > 0 ? steps : settings.integer("epochs", 1, kMany) * e.steps_per_epoch;

  e.oars = static_cast<int>(settings.integer("oars", 0, 1 << 16));
  if (e.oars == 0) e.oars = graph::default_oars(e.network, e.batch);
  if (e.oars > e.batch)
    base::user_error("{} oars are more than the {} samples of a batch; use --oars {} or fewer", e.oars, e.batch,
                     e.batch);
  e.crew_options.batch = e.batch;
  e.crew_options.oars = e.oars;
  e.crew_options.evaluation_batch = settings.integer("evaluation-batch", 1, 1 << 20);
  const std::array<std::string, 2> reduce{"exact", "fast"};
  e.crew_options.reduce = settings.choice("reduce", reduce) == "exact" ? crew::Reduce::exact : crew::Reduce::fast;
  if (const std::string& table = settings.text("kernel-table"); !table.empty())
    e.crew_options.kernel_table = read_kernel_table(table);
  plan_threads(settings, neighbours, e);
  const std::int64_t shorter = e.drop_last ? 0 : e.train->size() % e.batch;
  const std::int64_t smallest_batch = shorter > 0 ? shorter : e.batch;
  warn_of_small_norms(e.network, std::max<std::int64_t>(1, smallest_batch / e.oars), e.notes);
  return e;
}

std::shared_ptr<const ops::KernelTable> read_kernel_table(const std::string& file) {
  return std::make_shared<ops::KernelTable>(ops::KernelTable::parse(base::read_text(file), file));
}

data::DatasetPtr training_samples(const Experiment& e) { return data::scale_targets(e.train, e.target_scale); }

data::LoaderOptions loader_options(const Experiment& e) {
  data::LoaderOptions options;
  options.batch = e.batch;
  options.drop_last = e.drop_last;
  options.seed = e.seed;
  options.cpus = e.cores.cpus;
  options.distribution = e.distribution;
  return options;
}

std::string data_hash(const Experiment& e) {
  constexpr std::int64_t kSamples = 16;
  std::uint64_t hash = 0;
  for (const auto& set : {e.train, e.validation, e.test}) {
    if (!set) continue;
    const std::int64_t size = set->size();
    hash = base::xxh3(std::as_bytes(std::span(&size, 1)), hash);
    std::vector<std::vector<float>> inputs;
    std::vector<float*> places;
    for (const tensor::Shape& shape : set->spec().inputs) inputs.emplace_back(static_cast<std::size_t>(shape.count()));
    for (auto& input : inputs) places.push_back(input.data());
    std::vector<float> target(static_cast<std::size_t>(data::target_floats(set->spec())));
    for (std::int64_t s = 0; s < std::min(kSamples, size); ++s) {
      set->fetch(s * size / std::min(kSamples, size), {e.seed, 0}, places, target.data());
      for (const auto& input : inputs) hash = base::xxh3(std::as_bytes(std::span(input)), hash);
      hash = base::xxh3(std::as_bytes(std::span(target)), hash);
    }
  }
  for (const auto* numbers : {&e.target_scale.mean, &e.target_scale.deviation})
    if (!numbers->empty()) hash = base::xxh3(std::as_bytes(std::span(*numbers)), hash);
  return fmt::format("{:016x}", hash);
}

}  // namespace trireme::train
