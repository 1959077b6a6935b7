#include "train/results/training_progress.h"

#include <nlohmann/json.hpp>

#include "base/error.h"
#include "train/results/finite_number.h"

namespace trireme::train {
namespace {

using Json = nlohmann::json;

double number(const Json& json) { return json.is_null() ? kUnknown : json.get<double>(); }

}  // namespace

store::SavedProgress TrainingProgress::to_store() const {
  const Json train{{"epoch_loss", epoch_loss},
                   {"epoch_correct", epoch_correct},
                   {"epoch_samples", epoch_samples},
                   {"train_loss", finite_number<Json>(train_loss)},
                   {"train_accuracy", finite_number<Json>(train_accuracy)},
                   {"best", early_stopping.best ? Json(*early_stopping.best) : Json(nullptr)},
                   {"best_loss", finite_number<Json>(best_loss)},
                   {"bad_epochs", early_stopping.bad_epochs},
                   {"total_steps", total_steps},
                   {"seconds", seconds}};
  return {step, epoch, position, {{"train", train.dump()}}};
}

TrainingProgress TrainingProgress::from_checkpoint(const store::LoadedCheckpoint& loaded) {
  TrainingProgress p;
  p.step = loaded.progress.step;
  p.epoch = loaded.progress.epoch;
  p.position = loaded.progress.position;
  try {
    const Json train = Json::parse(loaded.progress.extra.at("train"));
    p.epoch_loss = train.at("epoch_loss");
    p.epoch_correct = train.at("epoch_correct");
    p.epoch_samples = train.at("epoch_samples");
    p.train_loss = number(train.at("train_loss"));
    p.train_accuracy = number(train.at("train_accuracy"));
    if (!train.at("best").is_null()) p.early_stopping.best = train.at("best").get<double>();
    if (train.contains("best_loss")) p.best_loss = number(train.at("best_loss"));  // older checkpoints have none
    p.early_stopping.bad_epochs = train.at("bad_epochs");
    p.total_steps = train.at("total_steps");
    p.seconds = train.at("seconds");
  } catch (const std::exception&) {
    base::user_error("checkpoint {} is damaged: its state.json lacks what training needs", loaded.folder.string());
  }
  return p;
}

}  // namespace trireme::train
