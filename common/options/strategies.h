// SPDX-License-Identifier: Apache-2.0
//
// The one table of strategies: their names, and what follows from a name. Everything that asks how
// a strategy is launched or what it does in a step asks here.
#pragma once

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

namespace tandem::options {

enum class StrategyKind { kSingle, kIndependent, kDp, kDpAllReduce, kDdpReplicate, kDdp };

enum class Launch { kThreads, kProcesses };

enum class Algorithm {
  kNone,       // devices exchange nothing
  kReplicate,  // a root device holds weights and batch for all devices, and the step waits for it
  kAllReduce,  // every device keeps its weights, and gradients are all-reduced
};

struct StrategyTraits {
  StrategyKind kind;
  std::string_view name;  // in --strategy and in results
  Launch launch;          // where --launch says nothing else
  Algorithm algorithm;
  std::string_view what;           // for people: what the strategy does in a step
  bool has_both_launches = false;  // --launch chooses

  [[nodiscard]] constexpr bool has_root() const { return algorithm == Algorithm::kReplicate; }
};

// In the order of StrategyKind, which is that of lists and reports: from the bound to ddp.
inline constexpr auto kStrategies = std::to_array<StrategyTraits>({
    {.kind = StrategyKind::kSingle,
     .name = "single",
     .launch = Launch::kThreads,
     .algorithm = Algorithm::kNone,
     .what = "one device, no wrapper: what speed-up and efficiency are measured against"},
    {.kind = StrategyKind::kIndependent,
     .name = "independent",
     .launch = Launch::kThreads,
     .algorithm = Algorithm::kNone,
     .what = "every device for itself, no communication: the bound for all; as threads or as "
             "processes",
     .has_both_launches = true},
    {.kind = StrategyKind::kDp,
     .name = "dp",
     .launch = Launch::kThreads,
     .algorithm = Algorithm::kReplicate,
     .what = "torch.nn.DataParallel: threads of one process; scatter the batch, copy the weights "
             "out, gather outputs, loss and update on device 0"},
    {.kind = StrategyKind::kDpAllReduce,
     .name = "dp-allreduce",
     .launch = Launch::kThreads,
     .algorithm = Algorithm::kAllReduce,
     .what = "ddp's algorithm in threads: what is left between it and ddp is threads against "
             "processes"},
    {.kind = StrategyKind::kDdpReplicate,
     .name = "ddp-replicate",
     .launch = Launch::kProcesses,
     .algorithm = Algorithm::kReplicate,
     .what = "dp's algorithm in processes"},
    {.kind = StrategyKind::kDdp,
     .name = "ddp",
     .launch = Launch::kProcesses,
     .algorithm = Algorithm::kAllReduce,
     .what =
         "torch's DistributedDataParallel: a process per device; weights copied once, gradients "
         "all-reduced in buckets while backward still runs"},
});

namespace detail {

constexpr auto join_strategy_names() {
  std::array<char, 128> text{};
  std::size_t size = 0;
  for (const StrategyTraits& traits : kStrategies) {
    if (size > 0) text[size++] = '|';
    for (const char letter : traits.name) text[size++] = letter;
  }
  return text;
}

inline constexpr auto kJoinedNames = join_strategy_names();

}  // namespace detail

// "single|independent|dp|...", as the table of options lists choices.
inline constexpr std::string_view kStrategyNames{detail::kJoinedNames.data()};

[[nodiscard]] constexpr const StrategyTraits& traits_of(StrategyKind kind) {
  return kStrategies[static_cast<std::size_t>(kind)];
}

// The strategy of that name; null for any other text, such as a newer version's strategy.
[[nodiscard]] constexpr const StrategyTraits* find_strategy(std::string_view name) {
  for (const StrategyTraits& traits : kStrategies) {
    if (traits.name == name) return &traits;
  }
  return nullptr;
}

// Whether one device of that strategy holds weights and batch for all devices.
[[nodiscard]] constexpr bool has_root(std::string_view strategy) {
  const StrategyTraits* const traits = find_strategy(strategy);
  return traits != nullptr && traits->has_root();
}

[[nodiscard]] constexpr std::string_view name_of(StrategyKind kind) { return traits_of(kind).name; }
[[nodiscard]] constexpr std::string_view name_of(Launch launch) {
  return launch == Launch::kThreads ? "threads" : "processes";
}

// The launch of a strategy by name where nothing else is said; threads for a name that is unknown.
[[nodiscard]] constexpr std::string_view usual_launch(std::string_view strategy) {
  const StrategyTraits* const traits = find_strategy(strategy);
  return name_of(traits == nullptr ? Launch::kThreads : traits->launch);
}

[[nodiscard]] inline std::string to_string(StrategyKind kind) { return std::string(name_of(kind)); }
[[nodiscard]] inline std::string to_string(Launch launch) { return std::string(name_of(launch)); }

// The strategies that PyTorch alone has: a process per device keeps a share of the training's state
// (tools/torch/twin/sharded.py).
inline constexpr std::array<std::string_view, 2> kSharding{"fsdp", "zero1"};

[[nodiscard]] constexpr bool is_sharding(std::string_view strategy) {
  return std::ranges::find(kSharding, strategy) != kSharding.end();
}

}  // namespace tandem::options
