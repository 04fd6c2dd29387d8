// SPDX-License-Identifier: Apache-2.0
#include "reports/tables/published.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>

#include "common/options/strategies.h"
#include "reports/model/exposed_communication.h"
#include "reports/model/subject.h"
#include "reports/text/format.h"

namespace tandem::reports {
namespace {

using enum options::StrategyKind;

// The figure of these results that stands beside a published figure.
enum class Here { kBusBandwidth, kWeakEfficiency, kDdpOverDp };

struct Published {
  std::string_view what;
  std::string_view figure;
  std::string_view conditions;
  std::string_view source;
  Here here;
};

constexpr std::array<Published, 6> kPublished{{
    {"all-reduce, bus bandwidth", "about 480 GB/s, in a ring about 370",
     "8 H100, NVLink with in-switch reduction, messages above 256 MB",
     "a maintainer in NVIDIA/nccl-tests, issue 212", Here::kBusBandwidth},
    {"all-reduce, bus bandwidth", "475 GB/s at its peak", "8 H200, NVLink, up to 4 GB",
     "NVIDIA/nccl-tests, issue 272", Here::kBusBandwidth},
    {"all-reduce, bus bandwidth", "about 200 GB/s", "8 A100 80 GB, NVLink, up to 1 GB",
     "NVIDIA/nccl-tests, issue 149", Here::kBusBandwidth},
    {"efficiency of weak scaling", "90 %",
     "Horovod, Inception V3 and ResNet-101, 512 Pascal GPUs, 25 Gbit/s RoCE",
     "Horovod's documentation, page Benchmarks", Here::kWeakEfficiency},
    {"efficiency of weak scaling", "68 %", "Horovod, VGG-16, the same GPUs",
     "Horovod's documentation, page Benchmarks", Here::kWeakEfficiency},
    {"speed of ddp over dp", "below 1: \"25 % training time speedup\" with dp",
     "one user's trainer", "pytorch/pytorch, issue 65936, a comment", Here::kDdpOverDp},
}};

// Whether the cell was measured on GPUs, in the mode that has a figure per step, with nothing
// modelled or planted.
bool counts(const CellSummary& cell) {
  return cell.cell.backend == "cuda" && cell.launches > 0 && cell.mode == "synchronous" &&
         implementation_of(cell.cell).empty() && cell.modelled.empty() && cell.planted.empty() &&
         !cell.oversubscribed;
}

std::optional<double> best_bus_bandwidth(const Summary& summary) {
  std::optional<double> best;
  for (const CommunicationTimes& times : communication_times(summary)) {
    if (!counts(*times.cell)) continue;
    for (const BucketTime& bucket : times.buckets) {
      best = std::max(best.value_or(0), bus_bandwidth(bucket, times.ranks));
    }
  }
  return best;
}

struct Extent {
  std::optional<double> least;
  double most = 0;
  void add(double value) {
    least = std::min(least.value_or(value), value);
    most = std::max(most, value);
  }
};

Extent weak_range(const Summary& summary) {
  Extent range;
  for (const CellSummary& cell : summary.cells) {
    if (!cell.weak_efficiency || !counts(cell)) continue;
    if (cell.cell.strategy != name_of(kDdp) || cell.cell.devices < 2) continue;
    range.add(cell.weak_efficiency->center);
  }
  return range;
}

Extent ratio_range(const Summary& summary) {
  Extent range;
  for (const StrategyPair& pair : summary.comparisons) {
    if (counts(*pair.dp) && counts(*pair.ddp) && pair.dp->cell.devices > 1) {
      range.add(pair.ddp_speed.center);
    }
  }
  return range;
}

std::string here_text(Here here, const Summary& summary) {
  switch (here) {
    case Here::kBusBandwidth: {
      const std::optional<double> best = best_bus_bandwidth(summary);
      return best ? fmt::format("{:.1f} GB/s, the fastest bucket", *best / 1e9) : "";
    }
    case Here::kWeakEfficiency: {
      const Extent range = weak_range(summary);
      if (!range.least) return "";
      return fmt::format("{:.0f} to {:.0f} % (ddp)", 100 * *range.least, 100 * range.most);
    }
    case Here::kDdpOverDp: {
      const Extent range = ratio_range(summary);
      if (!range.least) return "";
      return factor_text(*range.least) + " to " + factor_text(range.most);
    }
  }
  return "";
}

}  // namespace

TextTable published_table(const Summary& summary) {
  TextTable table({"figure", "published", "of", "source", "here"});
  for (const Published& figure : kPublished) {
    const std::string here = here_text(figure.here, summary);
    if (here.empty()) continue;
    table.rows.push_back({std::string(figure.what), std::string(figure.figure),
                          std::string(figure.conditions), std::string(figure.source), here});
  }
  return table;
}

}  // namespace tandem::reports
