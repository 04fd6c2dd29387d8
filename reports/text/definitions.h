// SPDX-License-Identifier: Apache-2.0
//
// What reports call a strategy, and what each figure of a report means: the one list, which page
// and Markdown link their sections to. Cells, CSV, JSON and commands keep the stored name.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "common/options/strategies.h"

namespace tandem::reports {

// "independent" does not tell a reader that it bounds what any strategy can reach.
inline constexpr std::string_view kNoCommunication = "no communication (bound)";

[[nodiscard]] constexpr std::string_view shown_strategy(std::string_view stored) {
  return stored == name_of(options::StrategyKind::kIndependent) ? kNoCommunication : stored;
}

struct FigureDefinition {
  std::string_view key;   // its place in a report
  std::string_view name;  // as tables and charts call the figure
  std::string_view meaning;
  std::string_view document;  // the file of the sources, and its heading, that has the formula
  std::string_view sections;  // ids of the sections that show the figure, spaces between them
};

// Rows of one figure stand together: a report lists them in this order.
inline constexpr auto kDefinitions = std::to_array<FigureDefinition>({
    {.key = "sample",
     .name = "sample",
     .meaning = "One step, timed from when the last rank has left the barrier to when the last "
                "rank has finished.",
     .document = "docs/method/statistics.md#sample",
     .sections = "cells"},
    {.key = "launch",
     .name = "launch",
     .meaning = "A fresh process group that measures one cell, and counts as one number; the "
                "launches of all cells are interleaved.",
     .document = "docs/method/statistics.md#launch",
     .sections = "cells buckets twin side"},
    {.key = "median-step",
     .name = "median step",
     .meaning = "Geometric mean of the medians of the launches' samples.",
     .document = "docs/method/statistics.md#intervals",
     .sections = "cells costs buckets twin side"},
    {.key = "mean-step",
     .name = "mean step",
     .meaning = "Mean of the means of the launches' samples; only means add up.",
     .document = "docs/method/statistics.md#intervals",
     .sections = "ladder phases modes"},
    {.key = "interval",
     .name = "95 % interval",
     .meaning =
         "The range in brackets: where the figure may lie, by how its launches vary. A ratio whose "
         "interval holds 1, or a difference whose interval holds 0, is not resolved (~).",
     .document = "docs/method/statistics.md#intervals",
     .sections = "cells ladder costs map comparisons twin"},
    {.key = "throughput",
     .name = "samples per second",
     .meaning = "Global batch / mean step; unbounded where the launches scatter so much that the "
                "step's time would reach zero.",
     .document = "docs/method/statistics.md#intervals",
     .sections = "scaling cells sources"},
    {.key = "speed-up",
     .name = "speed-up",
     .meaning = "Median step of single (one device, no wrapper, the same model and global batch) / "
                "own median step.",
     .document = "docs/method/statistics.md#speed-up",
     .sections = "scaling cells"},
    {.key = "efficiency",
     .name = "efficiency",
     .meaning = "Speed-up / devices; above 100 % the baseline is likely wrong.",
     .document = "docs/method/statistics.md#speed-up",
     .sections = "scaling cells"},
    {.key = "weak-scaling",
     .name = "weak scaling",
     .meaning = "With the same batch per device. Efficiency: median step of single on one device's "
                "share of the batch / own median step; speed-up: that x devices.",
     .document = "docs/method/statistics.md#weak-scaling",
     .sections = "scaling"},
    {.key = "ideal",
     .name = "ideal",
     .meaning = "Not measured. Throughput of single x devices; of a speed-up the devices, of an "
                "efficiency 100 %.",
     .document = "docs/method/statistics.md#speed-up",
     .sections = "scaling"},
    {.key = "bound",
     .name = kNoCommunication,
     .meaning = "The same work on as many devices, which send each other nothing (strategy "
                "independent, as threads or as processes): no strategy is expected to be faster.",
     .document = "docs/method/statistics.md#two-by-two",
     .sections = "scaling cells costs ladder"},
    {.key = "flops",
     .name = "GFLOP/s per device",
     .meaning = "FLOPs of the model's products per sample x throughput / devices; of peak: over "
                "the fastest matrix product measured on one such device.",
     .document = "docs/method/models.md#flops-and-share-of-peak",
     .sections = "cells"},
    {.key = "limit",
     .name = "what limits a strategy",
     .meaning = "The longest phase that one device alone does not have, as a share of the mean "
                "step; below 5 % its own computing.",
     .document = "docs/method/phases.md#what-limits-a-strategy",
     .sections = "advice"},
    {.key = "gap",
     .name = "the gap",
     .meaning = "Mean step of dp minus that of ddp as torch has it.",
     .document = "docs/method/explain.md#steps-and-gaps",
     .sections = "ladder"},
    {.key = "rung",
     .name = "what a rung saves",
     .meaning = "Mean step of the rung above minus the rung's own: the two differ by one cause.",
     .document = "docs/method/explain.md#steps-and-gaps",
     .sections = "ladder"},
    {.key = "range",
     .name = "removed first and last",
     .meaning = "What a cause saves where it alone is removed from the top of its family, and what "
                "it costs where it alone is put back at the family's end.",
     .document = "docs/method/explain.md#removed-first-removed-last",
     .sections = "ladder"},
    {.key = "by-phase",
     .name = "by phase",
     .meaning = "Difference of the phase means of the two rungs' critical devices: where the time "
                "went, not what one switch would save.",
     .document = "docs/method/explain.md#by-phase",
     .sections = "ladder"},
    {.key = "phase",
     .name = "phase",
     .meaning =
         "Mean over samples of a phase's time on each sample's critical device: the root for dp "
         "and ddp-replicate, else the slowest rank, which differs from sample to sample.",
     .document = "docs/method/phases.md#the-time-account",
     .sections = "phases"},
    {.key = "remainder",
     .name = "remainder",
     .meaning = "Mean step minus the mean span of the critical devices: time in no phase. Phases "
                "and remainder add up to the mean step.",
     .document = "docs/method/phases.md#remainder",
     .sections = "phases trust"},
    {.key = "exposed",
     .name = "exposed communication",
     .meaning = "Phase exposed_comm: the time after backward in which compute waits for "
                "collectives, or for a rank that is late to join them.",
     .document = "docs/method/phases.md#exposed-communication",
     .sections = "phases collectives"},
    {.key = "share",
     .name = "share of the bound",
     .meaning = "Median step of the bound / median step of ddp.",
     .document = "docs/method/explain.md#what-ddp-costs",
     .sections = "costs"},
    {.key = "missing",
     .name = "missing",
     .meaning = "Mean step of ddp minus that of the bound; the parts beside it sum to it.",
     .document = "docs/method/explain.md#what-ddp-costs",
     .sections = "costs ladder"},
    {.key = "transfer",
     .name = "exposed transfer",
     .meaning =
         "The least exposed communication of all ranks: the last rank to join waits for nobody.",
     .document = "docs/method/explain.md#what-ddp-costs",
     .sections = "costs ladder"},
    {.key = "skew",
     .name = "skew",
     .meaning = "What the step's slowest rank has in forward, backward and exposed communication "
                "beyond the least of all ranks, in ddp minus the same in the bound.",
     .document = "docs/method/explain.md#what-ddp-costs",
     .sections = "costs ladder"},
    {.key = "contention",
     .name = "contention",
     .meaning = "The least forward and backward of all ranks in ddp minus the same in the bound: "
                "computing slowed by communication, and the copying of gradients into buckets.",
     .document = "docs/method/explain.md#what-ddp-costs",
     .sections = "costs ladder"},
    {.key = "rest",
     .name = "bucket copies and rest",
     .meaning = "Copying gradients out of buckets, and what is left of the missing time.",
     .document = "docs/method/explain.md#what-ddp-costs",
     .sections = "costs ladder"},
    {.key = "ddp-speed",
     .name = "speed of ddp / dp",
     .meaning = "Median step of dp / that of ddp, a ratio of launch medians.",
     .document = "docs/method/statistics.md#verdict",
     .sections = "map comparisons"},
    {.key = "factor",
     .name = "factor of the map",
     .meaning = "Speed of the winner over the other's, with its interval; undecided where that "
                "holds 1, and then ddp's over dp's.",
     .document = "docs/method/statistics.md#break-even-map",
     .sections = "map"},
    {.key = "break-even",
     .name = "break-even",
     .meaning = "Between the two nearest resolved points whose winners differ, all else equal; "
                "nothing is interpolated.",
     .document = "docs/method/statistics.md#break-even-map",
     .sections = "map"},
    {.key = "memory",
     .name = "peak memory",
     .meaning = "The most bytes that a device held, over the cell's launches; device 0 / mean of "
                "the others tells what the root bears more.",
     .document = "docs/method/phases.md#memory-per-device",
     .sections = "memory"},
    {.key = "energy",
     .name = "J per step",
     .meaning = "What the energy counters of all GPUs, each once, grew by while a launch measured, "
                "over its steps; the mean of launches. J per sample: that over the global batch.",
     .document = "docs/method/gpu.md#energy",
     .sections = "energy"},
    {.key = "bucket",
     .name = "bucket cap",
     .meaning = "Value of --bucket-mb in MiB, all other options equal; the least median step is "
                "one of several, so that a lead that is barely resolved may be luck.",
     .document = "docs/method/bandwidth.md#bucket-size",
     .sections = "buckets"},
    {.key = "collective",
     .name = "time of a collective",
     .meaning = "In each sample the least of all ranks, which waited for nobody, and of that the "
                "mean; of a cell the sum over its buckets.",
     .document = "docs/method/bandwidth.md#gradient-collectives",
     .sections = "collectives"},
    {.key = "waited",
     .name = "waited for and not waited for",
     .meaning = "The least exposed communication of all ranks in each sample; 1 - that / all "
                "collectives ran behind backward, or behind the copying of gradients out of "
                "earlier buckets (phase bucket_copy).",
     .document = "docs/method/bandwidth.md#gradient-collectives",
     .sections = "collectives"},
    {.key = "after-backward",
     .name = "after backward, at least",
     .meaning = "The larger of the last bucket's share of the bytes, which is ready only when "
                "backward ends, and 1 - backward / all collectives: no schedule puts that much "
                "behind backward, but copies may still hide some of it.",
     .document = "docs/method/bandwidth.md#gradient-collectives",
     .sections = "collectives"},
    {.key = "bandwidth",
     .name = "algbw and busbw",
     .meaning = "algbw = gradient bytes / time, busbw = algbw x 2(n-1)/n for an all-reduce over n "
                "devices; GB are 10^9 bytes.",
     .document = "docs/method/bandwidth.md#collectives",
     .sections = "collectives others"},
    {.key = "free-running",
     .name = "saved by not waiting",
     .meaning = "1 - mean step free-running / mean step synchronous. A synchronous step ends with "
                "a wait of the host; free-running steps follow each other without.",
     .document = "docs/method/statistics.md#free-running",
     .sections = "modes"},
    {.key = "twin",
     .name = "ratio over Tandem's",
     .meaning = "Median step of torch / that of Tandem's same cell: above 1 Tandem is faster.",
     .document = "docs/method/torch.md#beside-pytorch",
     .sections = "twin"},
    {.key = "wrapper",
     .name = "ratio over single",
     .meaning =
         "Median step of a wrapper on one device / that of single, of the same implementation.",
     .document = "docs/method/torch.md#wrapper-cost",
     .sections = "twin"},
    {.key = "copies",
     .name = "copies between devices",
     .meaning = "Bytes / time of a copy, and the time of a copy of a few bytes, from its call "
                "until it is waited for.",
     .document = "docs/method/bandwidth.md#links",
     .sections = "links"},
    {.key = "books",
     .name = "the books",
     .meaning = "Remainder / mean step, of each cell with phases.",
     .document = "docs/method/phases.md#remainder",
     .sections = "trust"},
    {.key = "steadiness",
     .name = "steadiness",
     .meaning = "Cells whose launches drift, or gather around two times; a mark beside a cell "
                "changes no figure.",
     .document = "docs/method/statistics.md#unsteady-cells",
     .sections = "cells"},
    {.key = "numbers",
     .name = "numbers",
     .meaning =
         "Whether a strategy computes what one device computes is checked apart from timing.",
     .document = "docs/method/statistics.md#numbers",
     .sections = "trust"},
    {.key = "change",
     .name = "time B / A",
     .meaning = "Ratio of launch medians, above 1 where B is slower; the intervals of one document "
                "hold together with 95 %.",
     .document = "docs/method/statistics.md#compare",
     .sections = "side"},
    {.key = "verdict",
     .name = "verdict",
     .meaning = "SAME, SLOWER, FASTER or UNSURE, by where the interval lies to 1 and to the "
                "threshold; UNSURE: these launches do not tell.",
     .document = "docs/method/statistics.md#compare",
     .sections = "side"},
});

// The definitions of the figures that a section shows.
[[nodiscard]] std::vector<const FigureDefinition*> definitions_of(std::string_view section);

}  // namespace tandem::reports
