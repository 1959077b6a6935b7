#include "train/run/job.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <condition_variable>
#include <cstring>
#include <fstream>
#include <mutex>
#include <nlohmann/json.hpp>
#include <thread>

#include "base/cpu/simd.h"
#include "base/cpu/thread_name.h"
#include "base/error.h"
#include "base/error_of.h"
#include "base/hash.h"
#include "base/index.h"
#include "base/system/beside_program.h"
#include "base/system/clock.h"
#include "base/version.h"
#include "cluster/launcher/control_pipe.h"
#include "comm/builtin_transports.h"
#include "comm/mailbox/clock_offset.h"
#include "comm/membership/join.h"
#include "data/dataset/table_schema.h"
#include "graph/fusion.h"
#include "observe/resources.h"
#include "observe/trace/span_stream.h"
#include "tensor/buffer.h"
#include "train/experiment/options.h"
#include "train/helm/helm.h"
#include "train/messages/role_mailbox.h"
#include "train/observer/span_gatherer.h"
#include "train/observer/span_outlet.h"
#include "train/run/agreement.h"
#include "train/run_folder/checkpoint_interval.h"
#include "train/run_folder/resume.h"
#include "train/server/server_role.h"
#include "train/worker/interrupt.h"
#include "train/worker/worker.h"

namespace trireme::train {
namespace {

using Json = nlohmann::json;

constexpr std::int64_t kMostWorkers = 10000, kMostServers = 1000;
constexpr double kJoinSeconds = 60;
constexpr double kSettingsSeconds = 600;  // deadline until all know the settings, which contain --stall-timeout
constexpr double kEndingSeconds = 0.5;    // to wait for the launcher's report of how a process ended
constexpr double kMostDrift = 2e-4;       // of a clock that is compared only once
constexpr double kLeastTimeout = 1, kMostTimeout = 7 * 24 * 3600;

constexpr std::chrono::milliseconds kLastWords{300};  // for the helm to receive a failure before the group breaks

using base::at;

bool servers_live_apart(const base::Settings& settings) {
  const std::array<std::string, 2> places{"own", "worker"};
  return settings.choice("server-place", places) == "own";
}

// The number of processes that only run a server; it does not depend on the number of workers.
int server_processes(const Registry& registry, const base::Settings& settings) {
  if (!servers_live_apart(settings)) return 0;
  const auto servers = static_cast<int>(settings.integer("servers", 0, kMostServers));
  return servers == 0 && strategy::needs_servers(registry.strategies, settings.text("strategy")) ? 1 : servers;
}

// Version and hash of this executable: equal for the same program under any name.
std::string program_mark() {
  std::ifstream file("/proc/self/exe", std::ios::binary);
  const std::string bytes((std::istreambuf_iterator<char>(file)), {});
  return fmt::format("{} {}", base::version_text(), base::sha256_hex(std::as_bytes(std::span(bytes))).substr(0, 16));
}

void check_timeout(const base::Settings& settings, const char* name) {
  const double seconds = settings.number(name);
  if (!(seconds >= kLeastTimeout && seconds <= kMostTimeout))
    base::user_error("{} is {}, expected {} to {} seconds", settings.label(name), settings.text(name), kLeastTimeout,
                     kMostTimeout);
}

// The heartbeat timeout, which process 0 announces to all. A mistake in the settings is reported later, on all
// processes at once.
double heartbeat_timeout(const Registry& registry, const base::Settings& given) {
  try {
    const base::Settings settings = effective_settings(registry, given);
    check_timeout(settings, "heartbeat-timeout");
    return settings.number("heartbeat-timeout");
  } catch (const base::Error&) {
    return comm::FailureTimeouts{}.silent_seconds;
  }
}

// The effective settings, as far as this process knows them before it joins the group: it may not have the run folder.
// Mistakes are reported later, on all processes at once.
base::Settings known_settings(const Registry& registry, const base::Settings& given) {
  try {
    return effective_settings(registry, given);
  } catch (const base::Error&) {
    return given;
  }
}

// The launch info's transport, else that of the settings. If that one cannot be used, all processes join over the
// default transport, and report the mistake later, at once.
const comm::Transport& choose_transport(const Registry& registry, const std::optional<cluster::LaunchInfo>& launch_info,
                                        const base::Settings& given) {
  const comm::Transports& transports = registry.transports;
  if (!launch_info) return transports.get(comm::kAlone);
  if (!launch_info->transport.empty()) return transports.get(launch_info->transport);
  const comm::Transport* named = transports.find(known_settings(registry, given).text("transport"));
  if (named && named->offered.train && !named->launcher) return *named;
  return transports.get(base::Settings(train_options()).text("transport"));
}

comm::JoinRequest join_request(const Registry& registry, const std::optional<cluster::LaunchInfo>& launch_info,
                               const base::Settings& given) {
  comm::JoinRequest request;
  request.join_seconds = kJoinSeconds;
  request.deadline_seconds = kSettingsSeconds;
  request.elects = false;  // no new rank 0 after its loss: the helm would be lost as well
  if (!launch_info) return request;
  request.program = program_mark();
  request.address = launch_info->rendezvous;
  request.token = launch_info->token;
  request.rank = launch_info->rank;
  request.world = launch_info->world;
  request.tls = launch_info->tls || known_settings(registry, given).flag("tls");
  if (launch_info->rank == 0) request.patience.silent_seconds = heartbeat_timeout(registry, given);
  request.patience.ending_seconds = launch_info->has_control_pipe ? kEndingSeconds : 0;
  return request;
}

// One process of a run.
class Job {
 public:
  Job(const Registry& registry, const base::Settings& given, const std::optional<cluster::LaunchInfo>& launch_info)
      : registry_(registry),
        launch_info_(launch_info),
        transport_(choose_transport(registry, launch_info, given)),
        group_(transport_.join(join_request(registry, launch_info, given))),
        agree_(group_),
        settings_(share_settings(given)) {
    process_ = group_.rank();
    roles_ = role_map_of(registry_, settings_);
    if (roles_.world() != group_.world())
      base::user_error("{} workers and {} servers are {} processes, but {} were started", roles_.workers,
                       roles_.servers, roles_.world(), group_.world());
    worker_number_ = roles_.worker_of(process_);
    for (int process = 0; process < roles_.world(); ++process) origins_.push_back(process);
    group_.set_deadline(settings_.number("stall-timeout"));
  }

  std::string run() {
    hosts_ = agree_.hosts();
    const HostNeighbours neighbours = agree_.neighbours(roles_);
    const std::string isa = agree_.isa(settings_.text("isa"));
    agree_.together([&] { prepare(neighbours, isa); });
    compare();
    std::atomic<bool> interrupted{false}, hung_up{false};
    const InterruptWatch signals;
    const HangupWatch terminal;
    std::optional<cluster::ControlPipe> control_pipe;
    if (launch_info_ && launch_info_->has_control_pipe)
      control_pipe.emplace(
          cluster::ControlPipe::Callbacks{.interrupt = [&] { interrupted = true; },
                                          .hang_up = [&] { hung_up = true; },
                                          .gone =
                                              [&] {
                                                if (process_ == 0)
                                                  interrupted = true;
                                                else
                                                  std::_Exit(1);  // the launcher has exited: nobody to report to
                                              }});
    return play({[&] { return interrupted || signals.requested(); }, [&] { return hung_up || terminal.has_come(); }});
  }

 private:
  // Broadcasts the settings of process 0: only that process may have the run folder or the configuration file.
  base::Settings share_settings(const base::Settings& given) {
    std::string text;
    base::Settings settings(train_options());
    agree_.together([&] {
      if (group_.rank() != 0) return;
      settings = given;
      if (launch_info_ && !given.is_set("workers")) {  // srun and mpirun set the number of processes
        const int servers = server_processes(registry_, effective_settings(registry_, given));
        if (servers >= group_.world())
          base::user_error(
              "{} servers leave no process for a worker: {} were started; start more, or use "
              "--server-place worker",
              servers, group_.world());
        settings.set("workers", std::to_string(group_.world() - servers));
      }
      settings = effective_settings(registry_, settings);
      check_settings(registry_, settings);
      Json json{{"given", settings.given()}};
      if (!given.text("resume").empty()) {
        normalization_ = stored_normalization(RunFolder::open(given.text("resume")));
        json["normalization"] = to_text(*normalization_);
        target_scale_ = stored_target_scale(RunFolder::open(given.text("resume")));
        json["target_scale"] = to_text(target_scale_);
        model_ = stored_network(RunFolder::open(given.text("resume")));
        if (const auto samples = stored_samples(RunFolder::open(given.text("resume")))) schema_ = samples->spec.schema;
        if (schema_) json["schema"] = data::to_json(*schema_);
      } else {
        model_ = read_model_file(settings);
      }
      if (model_) json["model"] = {{"file", model_->file}, {"text", model_->text}};
      text = json.dump();
    });
    text = agree_.broadcast(text);
    if (group_.rank() == 0) return settings;
    const Json json = Json::parse(text);
    for (const auto& [name, value] : json.at("given").items()) settings.set(name, value.get<std::string>());
    if (json.contains("normalization")) normalization_ = normalization_from_text(json.at("normalization"));
    if (json.contains("target_scale")) target_scale_ = target_scale_from_text(json.at("target_scale"));
    if (json.contains("schema"))
      schema_ = std::make_shared<const data::TableSchema>(data::schema_from_json(json["schema"].get<std::string>()));
    if (json.contains("model")) model_ = ModelText{json["model"].at("file"), json["model"].at("text")};
    return settings;
  }

  void prepare(const HostNeighbours& neighbours, const std::string& isa) {
    trace_mode_ = observe::parse_trace_mode(settings_);
    optimizer_ = optim::make_optimizer(registry_.optimizers, settings_.text("optimizer"));
    const double clip = settings_.number("clip");
    if (clip < 0) base::user_error("{} is {}, expected 0 (none) or more", settings_.label("clip"), clip);
    if (const std::string& run = settings_.text("resume"); !run.empty())
      check_data_exists(registry_, settings_, run,
                        fmt::format("{} train --resume {} --data PLACE", base::program_name(), run));
    base::Settings common = settings_;
    common.set("isa", isa);
    const GivenParts given{normalization_ ? &*normalization_ : nullptr, target_scale_, model_, nullptr, schema_};
    experiment_ = resolve(registry_, common, given, neighbours);
    const Experiment& e = *experiment_;
    if (roles_.workers > e.oars)
      base::user_error("{} workers are more than the {} of a batch; use --oars {} or more, or fewer workers",
                       roles_.workers, base::counted(e.oars, "oar"),
                       std::bit_ceil(static_cast<unsigned>(roles_.workers)));
    phases_ = phases_of(roles_, hosts_);
    const std::array<std::string, 2> where{"spread", "first"};
    settings_.check_choice("evaluate", where);
    strategy::check_assignment(settings_.text("assign"), e.oars, roles_.workers);
    if (worker_number_ >= 0) {
      worker_ = std::make_unique<Worker>(Worker::Context{settings_, *experiment_, group_, roles_, worker_number_,
                                                         phases_, optimizer_, spans(), [this] { send_spans(); }});
      prints_ = run_fingerprint(worker_->crew(), e);
      space_ = worker_->crew().space();
    } else if (process_ == 0) {
      space_ = crew::space_of(e.network, e.crew_options);
    }
  }

  std::vector<strategy::Phase> phases_of(const strategy::RoleMap& roles, const std::vector<std::string>& hosts) const {
    strategy::WorkerSet workers{roles.workers, {}};
    for (const int process : roles.worker_processes()) workers.hosts.push_back(hosts[at(process)]);
    return strategy::parse_phases(registry_.strategies, settings_.text("strategy"),
                                  {experiment_->total_steps, experiment_->steps_per_epoch, std::move(workers)});
  }

  // Checks what must be equal on all processes, and makes the collective allocations.
  void compare() {
    const bool is_worker = worker_number_ >= 0;
    agree_.same_data(is_worker || process_ == 0 ? data_hash(*experiment_) : "", roles_, hosts_);
    const std::vector<int> threads = agree_.gather(is_worker ? experiment_->threads : 0);
    for (int w = 0; w < roles_.workers; ++w) threads_.push_back(threads[at(roles_.process_of_worker(w))]);
    const std::vector<std::int64_t> floats = agree_.gather(is_worker ? space_.floats() : 0);
    const bool reduces =
        std::ranges::any_of(phases_, [](const strategy::Phase& phase) { return phase.traits().adds_among_workers; });
    std::span<float> gradients;
    if (group_.world() > 1 && (reduces || roles_.servers > 0)) {
      // Layout of the window: weights, gradients, and the weights shared by all workers of the host. Pages that no
      // process touches take no memory.
      const std::int64_t arrays = reduces ? 2 * std::bit_width(static_cast<unsigned>(experiment_->oars)) + 1 : 1;
      const std::size_t array = tensor::align_up(at(*std::ranges::max_element(floats)) * sizeof(float));
      window_ = group_.allocate(at(arrays + 2) * array);
      if (is_worker) window_->take(0, 2 * array);
      if (reduces) host_weights_ = memory_of_host(at(arrays + 1) * array, at(space_.floats()));
      auto* memory = reinterpret_cast<float*>(window_->own().data());
      if (is_worker) worker_->move_weights(memory);
      gradients = {memory + array / sizeof(float), at(arrays) * array / sizeof(float)};
    } else if (is_worker && roles_.servers > 0) {
      own_gradients_.resize(at(space_.floats()));
      gradients = own_gradients_;
    }
    if (group_.world() > 1) core_slots_ = group_.allocate(sizeof(strategy::CoreSlot));
    compare_clocks();
    tell_helm_kernels();
    if (!is_worker) return;
    group_.among(roles_.worker_processes(), 1 << 20);
    agree_.same_kernels(prints_, settings_.flag("allow-other-bits"), roles_, hosts_);
    worker_->prepare(gradients, host_weights_, threads_);
    if (core_slots_) share_cores();
  }

  // Memory in the first worker's window if all workers can reach it, else empty.
  std::span<float> memory_of_host(std::size_t offset, std::size_t floats) const {
    const std::vector<int> processes = roles_.worker_processes();
    if (std::ranges::any_of(processes, [&](int process) { return window_->part(process).empty(); })) return {};
    if (worker_number_ == 0) window_->take(offset, floats * sizeof(float));
    return {reinterpret_cast<float*>(window_->part(processes[0]).data() + offset), floats};
  }

  // Does nothing unless all workers are on this host. Worker::share_cores() checks that each has a core of its own.
  void share_cores() {
    std::vector<strategy::CoreSlot*> core_slots;
    for (const int process : roles_.worker_processes()) {
      const std::span<std::byte> part = core_slots_->part(process);
      if (part.size() < sizeof(strategy::CoreSlot)) return;
      core_slots.push_back(reinterpret_cast<strategy::CoreSlot*>(part.data()));
    }
    worker_->share_cores(std::move(core_slots));
  }

  // A helm without a worker in its process has no kernels, but writes the run's fingerprints into run.json.
  void tell_helm_kernels() {
    if (roles_.worker_of(0) >= 0) return;
    if (worker_number_ == 0) {
      Json prints = Json::array();
      for (const graph::KernelPrint& print : prints_) prints.push_back({print.kernel, print.hash});
      send_text(group_.mailbox(), 0, kText, prints.dump());
    }
    if (process_ != 0) return;
    for (const Json& print : Json::parse(receive_text(group_.mailbox(), roles_.process_of_worker(0), kText)))
      prints_.push_back({print.at(0), print.at(1)});
  }

  // Runs all roles of this process concurrently. Rethrows a failure: the helm's before the worker's before the
  // server's.
  std::string play(const Helm::Signals& signals) {
    std::string summary;
    if (const int server = roles_.server_of(process_); server >= 0)
      server_ = std::make_unique<ServerRole>(group_, roles_, server, phases_, optimizer_, settings_.number("clip"),
                                             spans(), [this] { send_spans(); });
    name_in_trace_ = fmt::format("{} on {}", roles_.name(process_), hosts_[at(process_)]);
    std::thread helm_thread;
    if (process_ == 0)
      helm_thread = std::thread([&] {
        base::name_this_thread("helm");
        base::unpin_this_thread(experiment_->cores.cpus);
        guarded(kHelmRole, [&] { summary = helm(signals).conduct(); });
        const std::lock_guard lock(regroup_mutex_);
        helm_waits_ = true;
        regroup_changed_.notify_all();
      });
    do {
      play_roles();
    } while (regroup());
    if (helm_thread.joinable()) helm_thread.join();
    for (const std::exception_ptr& failure : failures_)
      if (failure) std::rethrow_exception(failure);
    return summary;
  }

  enum Role : std::size_t { kHelmRole, kWorkerRole, kServerRole };

  void guarded(Role role, const std::function<void()>& part) {
    try {
      part();
    } catch (...) {
      failures_[role] = std::current_exception();
      tell_failure(role, failures_[role]);
    }
  }

  // Failures are ignored: at the last line the helm may have left the group already.
  void send_resources(const observe::ResourcesUsed& used) {
    try {
      const std::string bytes = encode(used);
      group_.mailbox().send(0, kResources, std::as_bytes(std::span(bytes)));
    } catch (const base::Error&) {  // the helm has left
    }
  }

  // The lowest process of each host reports on the host, too.
  observe::Watched watched() const {
    const std::string& host = hosts_[at(process_)];
    return {host, process_, std::ranges::find(hosts_, host) == hosts_.begin() + process_,
            observe::core_limit(experiment_->cores)};
  }

  // The process's spans; null if there is to be no trace.
  observe::SpanRecorder* spans() { return trace_mode_ == observe::TraceMode::none ? nullptr : &span_recorder_; }

  void send_spans() {
    if (span_stream_) span_stream_->flush();
  }

  // This process's clock against the first one's.
  base::ClockModel clock() const {
    if (process_ == 0) return {};
    if (const auto measured = comm::clock_of(group_)) return *measured;
    base::ClockModel model = clock_at_start_;
    model.bound_ns += static_cast<std::int64_t>(kMostDrift * static_cast<double>(base::now_ns() - model.at_ns));
    return model;
  }

  // Once, for transports that do not compare clocks themselves.
  void compare_clocks() {
    if (comm::clock_of(group_)) return;
    for (int process = 1; process < group_.world(); ++process) {
      if (process_ == 0) comm::answer_clock(group_.mailbox(), process, kClock);
      if (process_ != process) continue;
      const comm::ClockOffset offset = comm::ask_clock(group_.mailbox(), 0, kClock);
      clock_at_start_ = {.at_ns = base::now_ns(), .ahead_ns = -offset.ahead_ns, .bound_ns = offset.round_trip_ns / 2};
    }
  }

  void begin_spans() {
    if (spans() == nullptr) return;
    const std::vector<int> cpus = experiment_->cores.cpus;
    const auto deliver = [this](std::string chunk) {
      if (process_ == 0) return span_outlet_.deliver(std::move(chunk));
      group_.mailbox().send(0, kSpans, std::as_bytes(std::span(chunk)));
    };
    span_stream_.emplace(
        span_recorder_, observe::SpanStreamOptions{trace_mode_, origins_[at(process_)], name_in_trace_, cpus},
        [this] { return clock(); }, deliver);
    if (process_ == 0 && group_.world() > 1) span_gatherer_.emplace(group_, span_outlet_, cpus);
  }

  void drain_spans() {
    if (span_gatherer_) span_gatherer_->drain();
  }

  void end_spans() {
    span_stream_.reset();
    span_gatherer_.reset();
  }

  // Runs worker and server until they are ordered to end, or fail. Process 0 is watched by the helm.
  void play_roles() {
    const std::vector<int> cpus = experiment_->cores.cpus;
    std::optional<observe::ResourceWatch> resources;
    std::thread server_thread;
    guarded(worker_ ? kWorkerRole : kServerRole, [&] {
      begin_spans();
      if (process_ != 0)
        resources.emplace([this](const observe::ResourcesUsed& used) { send_resources(used); }, 1.0, cpus, watched());
      if (server_)
        server_thread = std::thread([&] {
          base::name_this_thread("server");
          base::unpin_this_thread(cpus);
          guarded(kServerRole, [&] { server_->follow_orders(); });
        });
      if (worker_) worker_->follow_orders();
    });
    if (server_thread.joinable()) server_thread.join();
    end_spans();
  }

  // After the loss of a worker that the others can go on without: forms a new group and returns true, so that the roles
  // run on. The helm gets the result from wait_for_regrouping().
  bool regroup() {
    const bool can = (failures_[kWorkerRole] || failures_[kServerRole]) && group_.is_broken() && !gave_up_ &&
                     transport_.regroups && (!worker_ || worker_->outlives_workers()) &&
                     (!server_ || server_->outlives_workers());
    std::unique_lock lock(regroup_mutex_);
    // The helm arrives here too, because the broken group ends its waits.
    if (process_ == 0) regroup_changed_.wait(lock, [&] { return helm_waits_; });
    std::optional<Regrouped> result;
    if (can && !failures_[kHelmRole]) result = find_together();
    if (result) failures_ = {};
    regrouped_ = result;
    has_regrouped_ = true;
    helm_waits_ = false;
    regroup_changed_.notify_all();
    return result.has_value();
  }

  std::optional<Regrouped> wait_for_regrouping() {
    std::unique_lock lock(regroup_mutex_);
    helm_waits_ = true;
    has_regrouped_ = false;
    regroup_changed_.notify_all();
    regroup_changed_.wait(lock, [&] { return has_regrouped_; });
    return regrouped_;
  }

  // Replaces the broken group by one of the remaining processes, if they can go on. Otherwise keeps the broken group,
  // whose error is the one to report. If another process is lost meanwhile, the remaining ones try again.
  std::optional<Regrouped> find_together() {
    try {
      if (worker_) worker_->leave_group();
      for (;;) {
        comm::Group next = comm::regroup(group_);
        next.set_deadline(settings_.number("stall-timeout"));
        std::vector<int> left;
        try {
          left = Agreement(next).gather(origins_[at(process_)]);
        } catch (const base::Error&) {
          if (!next.is_broken_soon()) throw;
          continue;
        }
        std::optional<Regrouped> now = without_lost(left);
        if (now) take_places(*now, std::move(next), left);
        return now;
      }
    } catch (const base::Error&) {
      return std::nullopt;
    }
  }

  // The run with the processes in `left` only; nullopt when it cannot go on with them. `left` has the processes'
  // numbers at the start of the run: current numbers may differ between processes that know of different losses.
  std::optional<Regrouped> without_lost(const std::vector<int>& left) const {
    Regrouped now;
    for (int process = roles_.world() - 1; process >= 0; --process) {
      if (std::ranges::find(left, origins_[at(process)]) != left.end()) continue;
      // The run needs the state of the helm and of every server.
      if (process == 0 || roles_.server_of(process) >= 0) return std::nullopt;
      now.lost.push_back(roles_.worker_of(process));
    }
    now.roles = roles_;
    now.roles.workers -= static_cast<int>(now.lost.size());
    if (now.roles.workers == 0) return std::nullopt;
    for (int process = 0; process < roles_.world(); ++process)
      if (std::ranges::find(left, origins_[at(process)]) != left.end()) now.hosts.push_back(hosts_[at(process)]);
    for (int w = 0; w < roles_.workers; ++w)
      if (std::ranges::find(now.lost, w) == now.lost.end()) now.threads.push_back(threads_[at(w)]);
    now.phases = phases_of(now.roles, now.hosts);
    return now;
  }

  void take_places(const Regrouped& now, comm::Group group, const std::vector<int>& left) {
    group_ = std::move(group);
    origins_ = left;
    phases_ = now.phases;
    roles_ = now.roles;
    hosts_ = now.hosts;
    threads_ = now.threads;
    process_ = group_.rank();
    worker_number_ = roles_.worker_of(process_);
    if (worker_) {
      group_.among(roles_.worker_processes(), 1 << 20);
      worker_->regroup(roles_, worker_number_, phases_, threads_);
    }
    if (server_) server_->regroup(roles_, phases_);
  }

  Helm helm(const Helm::Signals& signals) {
    Helm::Context context{settings_,
                          *experiment_,
                          group_,
                          roles_,
                          phases_,
                          optimizer_,
                          space_,
                          prints_,
                          hosts_,
                          threads_,
                          experiment_->notes,
                          LocalReplica{},
                          signals,
                          [this] { return wait_for_regrouping(); },
                          registry_.sinks,
                          spans() == nullptr ? nullptr : &span_outlet_,
                          [this] { drain_spans(); }};
    if (worker_) context.local = {&worker_->crew(), &worker_->updater()};
    return Helm(std::move(context));
  }

  // Reports the failure to the helm, if it can be reached, then breaks the group, which ends all waits of this process.
  // If the helm itself has failed, it has already ordered the roles that it could reach to end.
  void tell_failure(Role role, const std::exception_ptr& failure) {
    if (group_.is_broken()) return;  // all ranks know already
    const base::Error error = base::error_of(failure);
    try {
      if (role != kHelmRole) send_report(group_.mailbox(), strategy::RoleMap::kHelm, FailureMessage{error.what()});
      if (group_.world() > 1) std::this_thread::sleep_for(kLastWords);
    } catch (const std::exception&) {  // the group is broken, which the helm notices itself
    }
    gave_up_ = true;
    group_.give_up(error.what());
  }

  const Registry& registry_;
  std::optional<cluster::LaunchInfo> launch_info_;
  const comm::Transport& transport_;  // a row of the registry
  comm::Group group_;
  Agreement agree_;
  std::optional<data::Normalization> normalization_;
  data::TargetScale target_scale_;
  std::shared_ptr<const data::TableSchema> schema_;
  std::optional<ModelText> model_;
  base::Settings settings_;
  int process_ = 0, worker_number_ = 0;
  strategy::RoleMap roles_;
  std::vector<int> origins_;        // per process: its number at the start of the run
  std::vector<std::string> hosts_;  // of each process
  std::shared_ptr<const optim::Optimizer> optimizer_;
  std::optional<Experiment> experiment_;
  std::vector<strategy::Phase> phases_;
  std::shared_ptr<const comm::SharedWindow> window_, core_slots_;
  std::span<float> host_weights_;  // part of window_
  std::vector<float> own_gradients_;
  observe::TraceMode trace_mode_ = observe::TraceMode::sampled;
  base::ClockModel clock_at_start_;
  observe::SpanRecorder span_recorder_;  // before the worker, which records
  std::string name_in_trace_;
  SpanOutlet span_outlet_;  // in process 0: to the helm's recorder
  std::optional<observe::SpanStream> span_stream_;
  std::optional<SpanGatherer> span_gatherer_;
  std::unique_ptr<Worker> worker_;
  std::unique_ptr<ServerRole> server_;
  std::array<std::exception_ptr, 3> failures_;  // by role
  std::atomic<bool> gave_up_{false};            // this process broke the group itself
  std::mutex regroup_mutex_;
  std::condition_variable regroup_changed_;
  bool helm_waits_ = false, has_regrouped_ = false;  // guarded by the mutex, as the next
  std::optional<Regrouped> regrouped_;
  tensor::ParameterSpace space_;
  std::vector<graph::KernelPrint> prints_;
  std::vector<int> threads_;  // of each worker
};

}  // namespace

base::Settings effective_settings(const Registry& registry, const base::Settings& given) {
  base::Settings settings = given.text("resume").empty() ? given : resumed_settings(registry, given);
  if (settings.text("strategy") == "auto")
    settings.set("strategy", settings.integer("workers", 1, kMostWorkers) > 1 ? "allreduce" : "single");
  return settings;
}

strategy::RoleMap role_map_of(const Registry& registry, const base::Settings& settings) {
  strategy::RoleMap roles;
  roles.workers = static_cast<int>(settings.integer("workers", 1, kMostWorkers));
  roles.servers = static_cast<int>(settings.integer("servers", 0, kMostServers));
  roles.servers_apart = servers_live_apart(settings);
  const std::string& strategy = settings.text("strategy");
  const std::vector<strategy::NamedConfig> configs =
      strategy::parse_configs(registry.strategies, strategy, roles.workers);
  const auto any = [&](bool strategy::Traits::*trait) {
    return std::ranges::any_of(configs, [&](const strategy::NamedConfig& one) { return one.config->traits().*trait; });
  };
  const bool needs = any(&strategy::Traits::needs_servers);
  if (roles.servers > 0 && !needs)
    base::user_error("--servers {} with --strategy {}: it has no servers; ps and groups do", roles.servers, strategy);
  if (needs && roles.servers == 0) roles.servers = 1;
  if (roles.workers > 1 && any(&strategy::Traits::is_for_one_worker))
    base::user_error("--workers {} with --strategy {}: single is for one worker; did you mean allreduce?",
                     roles.workers, strategy);
  if (!roles.servers_apart && roles.servers > roles.workers)
    base::user_error("{} servers cannot live in {} workers' processes; use --server-place own", roles.servers,
                     roles.workers);
  return roles;
}

void check_settings(const Registry& registry, const base::Settings& settings) {
  const strategy::RoleMap roles = role_map_of(registry, settings);
  if (settings.text("reduce") == "exact")
    for (const auto& [text, config] :
         strategy::parse_configs(registry.strategies, settings.text("strategy"), roles.workers))
      if (!config->traits().adds_exactly)
        base::user_error("--strategy {} cannot add exactly; use algorithm=auto or direct, or --reduce fast", text);
  const CheckpointInterval interval =
      parse_checkpoint_interval(settings.label("checkpoint-every"), settings.text("checkpoint-every"));
  if (interval.seconds > 0)
    for (const auto& [text, config] :
         strategy::parse_configs(registry.strategies, settings.text("strategy"), roles.workers))
      if (config->traits().holds_shares)
        base::user_error(
            "--checkpoint-every {} with --strategy {}: this strategy averages its replicas at a checkpoint, so its "
            "weights would depend on the time; give steps, as in --checkpoint-every 500",
            settings.text("checkpoint-every"), text);
  (void)observe::parse_trace_mode(settings);
  settings.check_choice("transport", comm::offered_names(registry.transports, &comm::Offers::train));
  for (const char* name : {"heartbeat-timeout", "stall-timeout"}) check_timeout(settings, name);
  (void)settings.integer("port", 0, 65535);
  if (settings.text("watch-port") != "auto") (void)settings.integer("watch-port", 0, 65535);
  // Some flags are read at the end of a run only.
  for (const base::OptionSpec& option : settings.table())
    if (option.value[0] == '\0') (void)settings.flag(option.name);
}

std::string train(const Registry& registry, const base::Settings& settings,
                  const std::optional<cluster::LaunchInfo>& launch_info) {
  return Job(registry, settings, launch_info).run();
}

}  // namespace trireme::train
