// SPDX-License-Identifier: Apache-2.0
//
// The sections of a report, so that page, Markdown and terminal say the same. Notes about a chart's
// looks stand with the page.
#pragma once

#include <string_view>

namespace tandem::reports {

struct Heading {
  std::string_view id;  // its place on the page
  std::string_view title;
  std::string_view hint{};  // how to read the section
  std::string_view
      document{};  // the file of the sources, and its heading, that defines its figures
};

inline constexpr Heading kAdvice{"advice", "What to do", "",
                                 "docs/method/phases.md#what-limits-a-strategy"};

inline constexpr Heading kChoices{
    "choices", "What to use",
    "Median steps. dp works as DataParallel does, ddp as DistributedDataParallel; the bound is the "
    "same work without communication. Factor: speed of what to use over the other, or of one "
    "device over the faster of both."};
inline constexpr Heading kWarnings{"warnings", "Warnings"};
inline constexpr Heading kDropped{"dropped", "Not measured",
                                  "results.json names each of these cells."};
inline constexpr std::string_view kInWords = "Each comparison in words";

inline constexpr Heading kScaling{"scaling", "Scaling", "", "docs/method/statistics.md#speed-up"};
inline constexpr Heading kCells{"cells", "All cells",
                                "A dash is a figure that does not exist; the remarks say why.",
                                "docs/method/statistics.md#speed-up"};

// Figures from several sources.
inline constexpr Heading kSources{"sources", "One question, a panel for each source",
                                  "All panels have one scale. No line joins two sources, and no "
                                  "ratio is taken between them here."};

inline constexpr Heading kGap{"gap", "Why they differ"};
inline constexpr Heading kLadderOfCauses{
    "ladder", "From dp to ddp, cause by cause",
    "Each rung differs from the one above by one cause; launches of all rungs are interleaved.",
    "docs/method/explain.md#steps-and-gaps"};
inline constexpr Heading kPhaseTimes{"phases", "Where the step goes", "",
                                     "docs/method/phases.md#the-time-account"};
inline constexpr Heading kCosts{
    "costs", "What ddp costs against the bound, which computes the same and sends nothing",
    "~ marks what is not resolved.", "docs/method/explain.md#what-ddp-costs"};
inline constexpr Heading kTwin{"twin", "Beside PyTorch",
                               "The same model, first weights, data, optimizer, cores and sample "
                               "on both sides, launches interleaved.",
                               "docs/method/torch.md#beside-pytorch"};

inline constexpr Heading kHostWork{
    "host-work", "Where the host's time goes",
    "From steps behind the samples, which looking slows a little. Parts of DataParallel's forward "
    "lie within forward; module is the module's own forward, of all replicas together. Rank 0's "
    "process."};

// In place of kTwin where PyTorch alone was measured.
inline constexpr Heading kWrappers{
    kTwin.id, "What a wrapper costs on one device",
    "One device exchanges nothing: what a wrapper takes there beside the plain module is its own.",
    "docs/method/torch.md#wrapper-cost"};

inline constexpr Heading kComparisons{"comparisons", "ddp against dp", "",
                                      "docs/method/statistics.md#verdict"};
inline constexpr std::string_view kNoComparison = "No step was measured under both dp and ddp.";

inline constexpr Heading kDetails{"details", "Behind the steps"};
inline constexpr Heading kMemory{"memory", "Memory per device", "",
                                 "docs/method/phases.md#memory-per-device"};
inline constexpr Heading kEnergy{
    "energy", "Energy",
    "By the GPUs' own counters; the processors' and the machine's energy is not in it.",
    "docs/method/gpu.md#energy"};
inline constexpr Heading kCollectives{
    "collectives", "Gradient collectives",
    "On host devices what is not waited for runs on compute's own cores and may slow compute "
    "instead: `tandem explain` measures that.",
    "docs/method/bandwidth.md#gradient-collectives"};

inline constexpr Heading kTrust{"trust", "Trust", "", "docs/method/phases.md#remainder"};
inline constexpr Heading kWithout{"without", "Cells without a figure"};
inline constexpr Heading kOthers{"others", "Measured beside the steps",
                                 "Entries of other programs, each from a run of its own."};
inline constexpr Heading kMachine{"machine", "Machine", "As the launches saw it."};
inline constexpr Heading kReproduce{"reproduce", "Reproduce", "On a machine like this one:"};
inline constexpr Heading kMethod{"method", "Method"};

}  // namespace tandem::reports
