#include "train/helm/state_keeper.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/index.h"

namespace trireme::train {
namespace {

using Json = nlohmann::json;

using base::at;

optim::Better better_of(const Experiment& experiment) {
  const bool has_accuracy = experiment.train->spec().target != data::TargetKind::values;
  return has_accuracy ? optim::Better::higher : optim::Better::lower;
}

}  // namespace

StateKeeper::StateKeeper(Context context)
    : context_(std::move(context)),
      ledger_(context_.experiment),
      early_stopping_(std::max<std::int64_t>(1, context_.patience), 0, better_of(context_.experiment)) {
  progress_.total_steps = context_.experiment.total_steps;
}

bool StateKeeper::has_accuracy() const { return context_.experiment.train->spec().target != data::TargetKind::values; }

double StateKeeper::epoch_accuracy() const {
  return has_accuracy() ? progress_.epoch_correct / static_cast<double>(progress_.epoch_samples) : kUnknown;
}

StateKeeper::Floats StateKeeper::memory() {
  Floats floats;
  const auto& space = context_.space;
  if (context_.local.crew != nullptr) {
    floats.weights = {context_.local.crew->weights(), at(space.floats())};
    auto& own = context_.local.updater->state();
    for (int s = 0; s < own.slots(); ++s) floats.slots.push_back(own.slot(s));
    return floats;
  }
  if (own_memory_.empty()) {
    own_memory_.emplace_back(at(space.floats()));
    for (int s = 0; s < context_.optimizer->slots(); ++s) own_memory_.emplace_back(at(space.trained_floats()));
  }
  floats.weights = own_memory_[0];
  for (std::size_t s = 1; s < own_memory_.size(); ++s) floats.slots.emplace_back(own_memory_[s]);
  return floats;
}

StateKeeper::Floats StateKeeper::collect() {
  const Floats floats = memory();
  const bool servers_hold = owner_ == strategy::StateOwner::servers;
  if (!servers_hold && context_.local.crew != nullptr) return floats;
  strategy::StateMap pieces;
  const auto take_from = [&](int process) {
    const strategy::StateMap more = receive_pieces(process, floats);
    pieces.insert(pieces.end(), more.begin(), more.end());
  };
  if (!servers_hold) {
    context_.helm_mailbox.order_worker(0, SendStateOrder{});
    take_from(context_.roles.process_of_worker(0));
  }
  for (int k = 0; servers_hold && k < context_.roles.servers; ++k) {
    context_.helm_mailbox.order_server(k, SendStateOrder{});
    take_from(context_.roles.process_of_server(k));
  }
  check_is_whole(std::move(pieces), context_.space.floats(), progress_.step);
  return floats;
}

// Receives all pieces that a process holds into `floats`.
strategy::StateMap StateKeeper::receive_pieces(int process, const Floats& floats) {
  const StateReply message = context_.helm_mailbox.answer_of<StateReply>(process);
  const std::int64_t all = context_.space.floats(), trained = context_.space.trained_floats();
  const auto take = [&](std::span<float> into, base::Range range) {
    if (range.empty()) return;
    receive_bytes(context_.helm_mailbox.mailbox(), process, kState,
                  std::as_writable_bytes(into.subspan(at(range.begin), at(range.size()))));
  };
  for (const strategy::StatePiece& piece : message.pieces) {
    const auto [begin, end] = piece.floats;
    base::check(begin >= 0 && begin <= end && end <= all, "process {} holds floats {} to {} of {}", process, begin, end,
                all);
    take(floats.weights, piece.floats);
    for (const std::span<float> slot : floats.slots) take(slot, {std::min(begin, trained), std::min(end, trained)});
  }
  return message.pieces;
}

StepUpdates StateKeeper::collect_updates() {
  StepUpdates updates;
  updates.gradients.resize(at(context_.space.trained_floats()));
  updates.updates.resize(updates.gradients.size());
  comm::Mailbox& mailbox = context_.helm_mailbox.mailbox();
  const auto take_from = [&](int process) {
    const auto reply = context_.helm_mailbox.answer_of<UpdatesReply>(process);
    for (const base::Range& range : reply.ranges) {
      base::check(range.begin >= 0 && range.begin <= range.end && range.end <= context_.space.trained_floats(),
                  "process {} captured floats {} to {}", process, range.begin, range.end);
      for (std::vector<float>* all : {&updates.gradients, &updates.updates})
        receive_bytes(mailbox, process, kState,
                      std::as_writable_bytes(std::span(*all).subspan(at(range.begin), at(range.size()))));
      updates.add(range);
    }
  };
  if (owner_ == strategy::StateOwner::servers) {
    for (int k = 0; k < context_.roles.servers; ++k) {
      context_.helm_mailbox.order_server(k, SendUpdatesOrder{});
      take_from(context_.roles.process_of_server(k));
    }
    return updates;
  }
  const auto is_whole = [&] {
    return std::ranges::all_of(context_.experiment.network.parameters(), [&](const auto& parameter) {
      const int index = context_.space.find(parameter.name);
      if (index < 0 || parameter.is_frozen) return true;
      const tensor::ParameterRange& range = context_.space.range(index);
      return range.kind != tensor::ParameterKind::trained ||
             updates.knows({range.offset, range.offset + range.floats()});
    });
  };
  for (int w = 0; w < context_.roles.workers && !is_whole(); ++w) {  // one has all of it where all update all
    context_.helm_mailbox.order_worker(w, SendUpdatesOrder{});
    take_from(context_.roles.process_of_worker(w));
  }
  return updates;
}

void StateKeeper::spread(const Floats& floats, bool with_optimizer) {
  HelmMailbox& helm_mailbox = context_.helm_mailbox;
  for (int w = 0; w < context_.roles.workers; ++w) {
    if (w == 0 && context_.local.crew != nullptr) {
      context_.local.crew->refresh_weight_forms();
      continue;
    }
    const int process = context_.roles.process_of_worker(w);
    helm_mailbox.order_worker(w, ReceiveStateOrder{with_optimizer, progress_.step});
    send_values<float>(helm_mailbox.mailbox(), process, kState, floats.weights);
    if (!with_optimizer) continue;
    for (const std::span<float> slot : floats.slots) send_values<float>(helm_mailbox.mailbox(), process, kState, slot);
  }
}

void StateKeeper::hand_over(std::size_t phase, strategy::StateOwner to, bool keeps_state) {
  const HandOverOrder order{phase, owner_, keeps_state, progress_.step};
  context_.helm_mailbox.order_workers(order);
  context_.helm_mailbox.order_servers(order);
  owner_ = to;
}

void StateKeeper::wait_for_workers() {
  context_.helm_mailbox.order_workers(AcknowledgeOrder{});
  for (int w = 0; w < context_.roles.workers; ++w)
    (void)context_.helm_mailbox.answer_of<Acknowledgement>(context_.roles.process_of_worker(w));
}

void StateKeeper::add_step(std::int64_t step, const StepSums& sums) {
  const auto samples = static_cast<std::int64_t>(sums.samples);
  progress_.step = step;
  progress_.epoch_loss += sums.loss + sums.penalty * sums.samples;
  progress_.epoch_correct += sums.correct;
  progress_.epoch_samples += samples;
  progress_.position += samples;
  if (step % context_.experiment.steps_per_epoch != 0) return;
  progress_.position = 0;
  ++progress_.epoch;
}

bool StateKeeper::add_result(double loss, double accuracy, bool is_whole_epoch) {
  progress_.train_loss = epoch_loss();
  progress_.train_accuracy = epoch_accuracy();
  if (context_.experiment.validation_plan.best_on == BestOn::nothing) return false;
  const bool stop = early_stopping_.observe(has_accuracy() ? accuracy : loss);
  // A small validation set gives many epochs the same accuracy; of these the loss tells which is best.
  const bool is_best = early_stopping_.improved() ||
                       (context_.experiment.validation_plan.best_on == BestOn::validation && has_accuracy() &&
                        accuracy == early_stopping_.state().best && loss < progress_.best_loss);
  if (is_whole_epoch) {
    progress_.early_stopping = early_stopping_.state();
    stopped_early_ = stop && context_.patience > 0;
    if (is_best) progress_.best_loss = loss;
  }
  return is_best;
}

void StateKeeper::begin_epoch() {
  progress_.epoch_loss = progress_.epoch_correct = 0;
  progress_.epoch_samples = 0;
  ledger_.end_epoch();
}

data::Ledger StateKeeper::ledger_of(const store::LoadedCheckpoint& loaded) const {
  data::Ledger ledger(context_.experiment.train->size());
  const auto kept = loaded.progress.extra.find("ledger");
  if (kept == loaded.progress.extra.end()) return ledger;
  const Json text = Json::parse(kept->second, nullptr, false);
  if (!text.is_string())
    base::user_error("checkpoint {} is damaged: the ledger in its state.json is not a string", loaded.folder.string());
  try {
    ledger.restore(text.get<std::string>());
  } catch (const base::Error& error) {
    base::user_error("checkpoint {} is damaged: {}", loaded.folder.string(), error.what());
  }
  return ledger;
}

void StateKeeper::check(const store::LoadedCheckpoint& loaded) const {
  (void)TrainingProgress::from_checkpoint(loaded);
  (void)ledger_of(loaded);
  for (const store::NamedTensor& tensor : loaded.weights.tensors)
    if (!std::ranges::all_of(tensor.values, [](float value) { return std::isfinite(value); }))
      base::user_error("checkpoint {} is of no use: {} holds numbers that are not finite", loaded.folder.string(),
                       tensor.name);
}

void StateKeeper::restore(const store::LoadedCheckpoint& loaded) {
  Floats floats = memory();
  std::vector<store::SlotBuffer> slots;
  const auto names = context_.optimizer->slot_names();
  for (std::size_t s = 0; s < floats.slots.size(); ++s) slots.push_back({names[s], floats.slots[s]});
  store::restore(loaded, context_.space, floats.weights, slots);
  progress_ = TrainingProgress::from_checkpoint(loaded);
  spread(floats, true);
  progress_.total_steps = context_.experiment.total_steps;
  ledger_.restore(ledger_of(loaded));
  early_stopping_.restore(progress_.early_stopping);
  stopped_early_ = context_.patience > 0 && progress_.early_stopping.bad_epochs >= context_.patience;
}

void StateKeeper::save(store::CheckpointStore& checkpoints, const Floats& floats, bool is_best, double seconds) {
  progress_.seconds = seconds;
  store::Checkpoint checkpoint;
  checkpoint.progress = progress_.to_store();
  checkpoint.progress.extra["ledger"] = Json(ledger_.total().text()).dump();
  checkpoint.space = &context_.space;
  checkpoint.weights = floats.weights;
  const auto names = context_.optimizer->slot_names();
  for (std::size_t s = 0; s < floats.slots.size(); ++s) checkpoint.slots.push_back({names[s], floats.slots[s]});
  checkpoints.save(checkpoint, is_best);
}

}  // namespace trireme::train
