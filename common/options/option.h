// SPDX-License-Identifier: Apache-2.0
//
// The fields of an option in the table of options (table.h).
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <string_view>

#include "common/options/strategies.h"

namespace tandem::options {

class Values;

// The heading under which --help and docs/cli.md list an option.
enum class Group { kCell, kDataParallel, kDdp, kGpu, kSimulation, kTiming, kDebug };
inline constexpr std::array<std::string_view, 7> kGroupNames{
    "Cell", "DataParallel", "DDP", "GPU", "Simulation", "Timing", "Debug"};

// The strategies that have an option; none stands for all.
using Kinds = std::span<const StrategyKind>;
inline constexpr std::array<StrategyKind, 0> kEvery{};
inline constexpr std::array kDpAlone{StrategyKind::kDp};
inline constexpr std::array kDpAllReduceAlone{StrategyKind::kDpAllReduce};
inline constexpr std::array kAllReducing{StrategyKind::kDdp, StrategyKind::kDpAllReduce};
inline constexpr std::array kAccumulating{StrategyKind::kSingle, StrategyKind::kIndependent,
                                          StrategyKind::kDdp, StrategyKind::kDpAllReduce};
inline constexpr std::array kRanks{StrategyKind::kDdp, StrategyKind::kDdpReplicate};
inline constexpr std::array kCopying{StrategyKind::kDp, StrategyKind::kDpAllReduce,
                                     StrategyKind::kDdp, StrategyKind::kDdpReplicate};

// Whether the strategy is one of `kinds`; a strategy that is unknown, such as a newer version's, is
// taken for one.
[[nodiscard]] constexpr bool is_among(std::string_view strategy, Kinds kinds) {
  const StrategyTraits* const traits = find_strategy(strategy);
  return kinds.empty() || traits == nullptr ||
         std::ranges::find(kinds, traits->kind) != kinds.end();
}

struct Owner {
  Group group = Group::kCell;
  Kinds strategies = kEvery;
};
inline constexpr Owner kDpOption{Group::kDataParallel, kDpAlone};
inline constexpr Owner kAllReduceOption{Group::kDdp, kAllReducing};
inline constexpr Owner kRanksOption{Group::kDdp, kRanks};
inline constexpr Owner kGpuOption{Group::kGpu};
inline constexpr Owner kSimulationOption{Group::kSimulation};
inline constexpr Owner kTimingOption{Group::kTiming};
inline constexpr Owner kDebugOption{Group::kDebug};

enum class Form {
  kText,       // the option's owner judges it
  kFile,       // a name that is not empty
  kSwitch,     // "on" or "off"; without a value it is on
  kChoice,     // one of `takes`
  kInteger,    // within the limits
  kSpeed,      // a number above 0, or the word behind the bar of `takes`
  kDuration,   // "8us", within the limits, which are in nanoseconds
  kCosts,      // "8us", or of kinds "call:3us,gather:9us"
  kSizes,      // "2GiB", or several with commas
  kMebibytes,  // "25", or "all"; from 1 byte, or from 0 where the limits begin there
  kDevices,    // numbers from 0 with commas
};

// The reach of --check: the command line alone, whether this machine has the back end as well, or
// the size of the model.
enum class Check { kOptions, kBackend, kModel };

inline constexpr std::int64_t kNoEnd = std::numeric_limits<int>::max();  // of what is counted
struct Limits {
  std::int64_t least = 0;
  std::int64_t most = kNoEnd;
  std::string_view refusal{};  // what is said of a value beyond them
};
inline constexpr Limits kAnyNumber{.least = std::numeric_limits<std::int64_t>::min(),
                                   .most = std::numeric_limits<std::int64_t>::max()};

// The form of a value.
struct Value {
  Form form = Form::kText;
  std::string_view takes{};  // "one|two" for kChoice, else the word that help has for the value
  std::string_view usual{};  // the default; empty: none
  std::string_view bare{};   // what the option means without a value; empty: it needs one
  Limits limits{};
  // The value in force where the option is absent. Unlike `usual`, the same value becomes part of a
  // cell's name where it is given.
  std::string_view implied{};
};

constexpr Value choice(std::string_view takes, std::string_view usual = {}) {
  return {.form = Form::kChoice, .takes = takes, .usual = usual};
}
constexpr Value on_or_off() {
  return {.form = Form::kSwitch, .takes = "off|on", .usual = "off", .bare = "on"};
}
constexpr Value file(std::string_view takes = "FILE") {
  return {.form = Form::kFile, .takes = takes};
}
constexpr Value text(std::string_view takes, std::string_view usual = {}) {
  return {.form = Form::kText, .takes = takes, .usual = usual};
}
constexpr Value integer(std::string_view takes, std::string_view usual, const Limits& limits) {
  return {.form = Form::kInteger, .takes = takes, .usual = usual, .limits = limits};
}
constexpr Value duration(std::string_view usual, const Limits& limits = kAnyNumber) {
  return {.form = Form::kDuration, .takes = "TIME", .usual = usual, .limits = limits};
}
constexpr Value costs() { return {.form = Form::kCosts, .takes = "TIME|KIND:TIME,..."}; }
constexpr Value speed(std::string_view takes, std::string_view refusal) {
  return {.form = Form::kSpeed, .takes = takes, .limits = {.refusal = refusal}};
}
constexpr Value sizes() { return {.form = Form::kSizes, .takes = "SIZE,..."}; }
constexpr Value mebibytes(std::int64_t least, std::string_view implied) {
  return {
      .form = Form::kMebibytes, .takes = "MIB|all", .limits = {.least = least}, .implied = implied};
}
constexpr Value device_list(std::string_view takes, std::string_view refusal) {
  return {.form = Form::kDevices, .takes = takes, .limits = {.refusal = refusal}};
}

// Questions that the loops over the table ask of an option.
enum Mark : unsigned {
  kNoMark = 0,
  kNamed = 1U << 0,    // part of a cell's name where it differs from its default
  kVaried = 1U << 1,   // a sweep may set it
  kPaired = 1U << 2,   // --ab may change it: it concerns neither the process nor its devices
  kPerRank = 1U << 3,  // the ranks of a job may differ in it
  kAsked = 1U << 4,    // step_bench alone can say whether the value holds
  kWord = 1U << 5,     // a word of the command line, without a name before it
};
inline constexpr unsigned kPartOfCell = kNamed | kVaried;

// Runs of step_bench, for Option::runs: those that take steps as the cell's options say, those of
// them that take so many that a fault is met, and those whose samples make a record.
inline constexpr std::string_view kSteppingRuns = "time|pair|verify|trace";
inline constexpr std::string_view kSamplingRuns = "time|pair|trace";
inline constexpr std::string_view kRecordingRuns = "time|trace";

// The back end that an option is of.
enum class Scope { kAnyBackend, kHost, kCuda };

struct Option {
  std::string_view name;  // without dashes
  Owner of{};
  Value value{};
  std::string_view runs{};  // the choices of "run" that have it, "time|trace"; empty: all
  std::string (*usual_of)(const Values&) = nullptr;  // the default where it follows from others
  Kinds last_choice_of = kEvery;  // the strategies that have the last choice, if fewer have it
  std::string_view last_choice_with{};  // the option that a program with the last choice has, too
  Kinds varied_in = kEvery;             // where a sweep varies it in fewer strategies than have it
  Scope scope = Scope::kAnyBackend;
  std::string_view
      elsewhere{};           // why a sweep has no such cells on the other back end, if it has none
  unsigned marks = kNoMark;  // a sum of Mark
  std::string_view help{};
  std::string_view example{};

  [[nodiscard]] constexpr bool is(Mark mark) const { return (marks & mark) != 0; }
};

// Defaults that follow from other options.
[[nodiscard]] std::string launch_of_strategy(const Values& values);
[[nodiscard]] std::string devices_in_order(const Values& values);
[[nodiscard]] std::string root_device(const Values& values);

}  // namespace tandem::options
