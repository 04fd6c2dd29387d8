// SPDX-License-Identifier: Apache-2.0
//
// Private to the page and its Markdown: the titles of sections and the notes below them, so that
// both say the same. Notes about a chart's looks stand with the page.
#pragma once

#include <string_view>

namespace tandem::reports {

inline constexpr std::string_view kAdviceTitle = "What to do";

inline constexpr std::string_view kScalingTitle = "Scaling";
inline constexpr std::string_view kScalingHint =
    "Samples per second = global batch / mean step; speed-up = median step of single / own "
    "median step at the same global batch; efficiency = speed-up / devices. With the same batch "
    "per device (weak scaling): efficiency = median step of single on one device's share / own "
    "median step, speed-up = that x devices.";
inline constexpr std::string_view kCellsTitle = "All cells";
inline constexpr std::string_view kCellsHint =
    "A dash is a figure that does not exist; the remarks say why.";
inline constexpr std::string_view kWeakTitle = "With the same batch per device";

inline constexpr std::string_view kGapTitle = "The gap";
inline constexpr std::string_view kLadderTitle = "From dp to ddp, cause by cause";
inline constexpr std::string_view kLadderHint =
    "Each rung differs from the one above by one cause. Steps are differences of means over "
    "interleaved launches; one whose interval holds 0 is not resolved.";
inline constexpr std::string_view kPhasesTitle = "Where the step goes";
inline constexpr std::string_view kPhasesHint =
    "Mean time per phase on the critical device (dp: the root; ddp: slowest rank).";
inline constexpr std::string_view kCornersTitle = "Algorithm against launch";
inline constexpr std::string_view kCornersHint =
    "Median steps where the weights are sent and gradients summed on device 0 at every step, and "
    "where they are all-reduced, each in threads of one process and in a process per device; "
    "ratios of launch medians with 95 % intervals, above 1 where what is named first is faster.";

inline constexpr std::string_view kMapTitle = "Break-even map";
inline constexpr std::string_view kMapHint =
    "Who is faster over model (by parameters) and batch, and by what factor of speed, with the "
    "95 % interval of ddp's speed over dp's. Undecided: the interval holds 1.";
inline constexpr std::string_view kNoMap = "dp and ddp were not both measured at any point.";
inline constexpr std::string_view kComparisonsTitle = "ddp against dp";

inline constexpr std::string_view kDetailsTitle = "Behind the steps";
inline constexpr std::string_view kMemoryTitle = "Memory per device";
inline constexpr std::string_view kMemoryHint =
    "Peak bytes that a device held, the most over launches.";
inline constexpr std::string_view kBucketsTitle = "Bucket size";
inline constexpr std::string_view kBucketsHint =
    "Median step over the cap of a gradient bucket (--bucket-mb, MiB), other options equal, with "
    "95 % intervals.";
inline constexpr std::string_view kCollectivesTitle = "Gradient collectives";
inline constexpr std::string_view kModesTitle = "Synchronous against free-running";
inline constexpr std::string_view kModesHint =
    "A synchronous step ends with a wait of the host; free-running steps follow each other "
    "without. Their difference is what the wait costs.";

inline constexpr std::string_view kNormalTitle = "Is this normal?";
inline constexpr std::string_view kNormalHint =
    "Figures that others published, beside the same of these results where they are comparable; "
    "other models and other machines, so an order of magnitude and no more.";

inline constexpr std::string_view kTrustTitle = "Trust";
inline constexpr std::string_view kWithoutTitle = "Cells without a figure";
inline constexpr std::string_view kMachineTitle = "Machine";
inline constexpr std::string_view kReproduceTitle = "Again";
inline constexpr std::string_view kReproduceHint = "To reproduce, on a machine like this one:";
inline constexpr std::string_view kMethodTitle = "Method";

}  // namespace tandem::reports
