// SPDX-License-Identifier: Apache-2.0
//
// Values that flags take by name.
#pragma once

#include <array>
#include <string>
#include <string_view>

#include "bench/job/job.h"
#include "bench/step/strategy_kind.h"
#include "common/base/error.h"
#include "common/parallel/strategy.h"
#include "ddp/reducer_options.h"
#include "dp/options.h"

namespace tandem::bench {

template <class T>
struct Choice {
  std::string_view name;
  T value;
};

// The value that `text` names; throws a usage error that lists what `flag` takes where there is
// none.
template <class T, std::size_t N>
[[nodiscard]] T choose(const char* flag, const std::string& text,
                       const std::array<Choice<T>, N>& choices) {
  std::string known;
  for (const auto& choice : choices) {
    if (choice.name == text) return choice.value;
    known += fmt::format("{}{}", known.empty() ? "" : ", ", choice.name);
  }
  fail(ErrorKind::kUsage, "{}: '{}' is not known: use one of {}", flag, text, known);
}

template <class T, std::size_t N>
[[nodiscard]] std::string name_of(T value, const std::array<Choice<T>, N>& choices) {
  for (const auto& choice : choices) {
    if (choice.value == value) return std::string(choice.name);
  }
  return "";
}

inline constexpr std::array kOnOff{Choice<bool>{"off", false}, Choice<bool>{"on", true}};
inline constexpr std::array kStrategies{
    Choice<StrategyKind>{"single", StrategyKind::kSingle},
    Choice<StrategyKind>{"independent", StrategyKind::kIndependent},
    Choice<StrategyKind>{"dp", StrategyKind::kDp},
    Choice<StrategyKind>{"dp-allreduce", StrategyKind::kDpAllReduce},
    Choice<StrategyKind>{"ddp", StrategyKind::kDdp},
    Choice<StrategyKind>{"ddp-replicate", StrategyKind::kDdpReplicate}};
inline constexpr std::array kLaunches{Choice<Launch>{"threads", Launch::kThreads},
                                      Choice<Launch>{"processes", Launch::kProcesses}};
inline constexpr std::array kInputs{Choice<InputPlace>{"host", InputPlace::kHost},
                                    Choice<InputPlace>{"pageable", InputPlace::kPageable},
                                    Choice<InputPlace>{"device", InputPlace::kDevice}};
inline constexpr std::array kOptimizers{Choice<OptimizerKind>{"sgd", OptimizerKind::kSgd},
                                        Choice<OptimizerKind>{"adam", OptimizerKind::kAdam},
                                        Choice<OptimizerKind>{"adamw", OptimizerKind::kAdamW}};
inline constexpr std::array kReplays{Choice<StepReplay>{"off", StepReplay::kOff},
                                     Choice<StepReplay>{"on", StepReplay::kOn}};
inline constexpr std::array kLocks{Choice<InterpreterLock>{"off", InterpreterLock::kOff},
                                   Choice<InterpreterLock>{"on", InterpreterLock::kOn}};
inline constexpr std::array kGrads{Choice<ddp::GradsMode>{"copy", ddp::GradsMode::kCopy},
                                   Choice<ddp::GradsMode>{"views", ddp::GradsMode::kViews}};
inline constexpr std::array kOverlaps{Choice<ddp::Overlap>{"on", ddp::Overlap::kOn},
                                      Choice<ddp::Overlap>{"off", ddp::Overlap::kOff}};
inline constexpr std::array kGraphs{Choice<ddp::Graph>{"off", ddp::Graph::kDynamic},
                                    Choice<ddp::Graph>{"on", ddp::Graph::kStatic}};
inline constexpr std::array kJoins{Choice<ddp::Join>{"off", ddp::Join::kOff},
                                   Choice<ddp::Join>{"world", ddp::Join::kWorld},
                                   Choice<ddp::Join>{"active", ddp::Join::kActive}};
inline constexpr std::array kReducers{
    Choice<ddp::ReducerKind>{"buckets", ddp::ReducerKind::kBuckets},
    Choice<ddp::ReducerKind>{"horovod", ddp::ReducerKind::kHorovod}};
inline constexpr std::array kCompressions{
    Choice<ddp::Compression>{"none", ddp::Compression::kNone},
    Choice<ddp::Compression>{"bf16", ddp::Compression::kBFloat16},
    Choice<ddp::Compression>{"fp16", ddp::Compression::kFloat16}};
inline constexpr std::array kPhaseTimings{Choice<PhaseTiming>{"on", PhaseTiming::kOn},
                                          Choice<PhaseTiming>{"off", PhaseTiming::kOff}};
inline constexpr std::array kThreadKinds{Choice<dp::Threads>{"spawned", dp::Threads::kSpawned},
                                         Choice<dp::Threads>{"kept", dp::Threads::kKept}};
inline constexpr std::array kGroupings{Choice<dp::Grouping>{"tensor", dp::Grouping::kTensor},
                                       Choice<dp::Grouping>{"coalesced", dp::Grouping::kCoalesced},
                                       Choice<dp::Grouping>{"flat", dp::Grouping::kFlat}};
[[nodiscard]] constexpr Choice<dp::Order> choice_of(dp::Order order) {
  return {dp::name_of(order), order};
}
inline constexpr std::array kOrders{choice_of(dp::Order::kTorch), choice_of(dp::Order::kSequential),
                                    choice_of(dp::Order::kTree), choice_of(dp::Order::kCollective)};
inline constexpr std::array kLossPlaces{
    Choice<dp::LossPlace>{"root", dp::LossPlace::kRoot},
    Choice<dp::LossPlace>{"replicas", dp::LossPlace::kReplicas}};

}  // namespace tandem::bench
