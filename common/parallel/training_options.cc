// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "common/base/known_names.h"
#include "common/options/rules.h"
#include "common/parallel/strategy.h"

namespace tandem {
namespace {

// The delay of --plant on `device`, which the step waits for.
std::optional<PlantedDelay> planted_delay(const std::string& text, int device) {
  if (text.empty()) return std::nullopt;
  const std::size_t colon = text.find(':');
  if (colon == std::string::npos) {
    fail(ErrorKind::kUsage, "--plant={}: give a phase and a time, such as loss:2ms", text);
  }
  const std::string name = text.substr(0, colon);
  const PhaseTraits* const phase = find_phase(name);
  if (phase == nullptr) {
    fail(ErrorKind::kUsage, "--plant: '{}' is no phase{}: use one of {}", name,
         did_you_mean(name, kPhaseNames), fmt::join(kPhaseNames, ", "));
  }
  const Nanoseconds delay = parse_duration(text.substr(colon + 1), "--plant");
  if (delay > std::chrono::seconds(1)) {
    fail(ErrorKind::kUsage, "--plant={}: every step would wait that long: use 1s or less", text);
  }
  return PlantedDelay{.phase = phase->phase, .delay = delay, .device = device};
}

// The threads of these strategies each wait for an autograd thread, and no thread holds the lock
// meanwhile: the one time at which the modelled lock is free cannot express it.
void check_lock(const InterpreterOptions& interpreter, const options::Values& values) {
  if (interpreter.lock == InterpreterLock::kOff) return;
  if (!interpreter.costs.only(Dispatcher::kAutograd).any()) return;
  const std::string strategy = values.text("strategy");
  if (strategy != "independent" && strategy != "dp-allreduce") return;
  fail(ErrorKind::kUsage,
       "--interpreter-lock: the modelled lock of {} knows no autograd threads: leave autograd and "
       "ddp-hook out of --dispatch-cost, or leave the lock out",
       strategy);
}

InterpreterOptions interpreter_options(const options::Values& values) {
  const InterpreterOptions interpreter{
      .costs = values.costs("dispatch-cost"),
      .lock = values.is_on("interpreter-lock") ? InterpreterLock::kOn : InterpreterLock::kOff};
  check_lock(interpreter, values);
  return interpreter;
}

InputPlace input_place(const options::Values& values) {
  constexpr InputPlace kDealtOut = InputPlace::kHost;  // scatter begins in pinned memory
  return values.pick("input",
                     {InputPlace::kHost, InputPlace::kPageable, InputPlace::kDevice, kDealtOut});
}

}  // namespace

TrainingOptions training_options(const options::Values& values) {
  TrainingOptions training;
  training.global_batch = options::global_batch(values);
  training.seed = static_cast<std::uint64_t>(values.integer("seed"));
  training.optimizer.kind =
      values.pick("optimizer", {OptimizerKind::kSgd, OptimizerKind::kAdam, OptimizerKind::kAdamW});
  training.precision =
      values.pick("precision", {Precision::kFp32, Precision::kTf32, Precision::kBf16});
  training.images = {.fp32_factors = values.is_on("conv-fp32"),
                     .channels_last = values.is_on("channels-last")};
  training.input = input_place(values);
  training.phases.timing = values.pick("phases", {PhaseTiming::kOn, PhaseTiming::kOff});
  training.phases.planted =
      planted_delay(values.text("plant"), values.devices("device-ids").front());
  training.interpreter = interpreter_options(values);
  return training;
}

}  // namespace tandem
