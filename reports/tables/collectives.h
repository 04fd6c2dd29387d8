// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "reports/model/summary.h"
#include "reports/table.h"

namespace tandem::reports {

// One gradient collective over a cell's launches.
struct BucketTime {
  std::int64_t bytes = 0;  // bytes of gradients
  // Seconds per step of the fastest rank in each sample, which waited for no other rank.
  stats::Estimate seconds;
};

// A cell's gradient collectives, in launch order.
struct CollectiveTimes {
  const CellSummary* cell = nullptr;
  int ranks = 0;  // two or more, as a world of one moves no data
  std::vector<BucketTime> buckets;
  int left_out = 0;         // launches without collectives, or with other buckets than the first
  stats::Estimate total;    // sum over all buckets, seconds per step
  stats::Estimate exposed;  // the least rank's exposed_comm, seconds per step
  // The mean over launches of 1 - exposed / total; absent where the collectives took no time.
  std::optional<stats::Estimate> hidden_share;

  [[nodiscard]] std::int64_t size_bytes() const;
  // The last bucket's share of the bytes. No schedule can hide the last bucket behind backward,
  // since backward has ended when that bucket is ready.
  [[nodiscard]] double last_share() const;
  // The least share of all collectives that runs after backward: the last bucket's share, or the
  // excess over backward's time. Copies out of buckets may hide this share, so hidden_share may
  // exceed 1 minus this share.
  [[nodiscard]] double after_backward_share() const;
};

// Bandwidths in bytes per second: the algorithm bandwidth counts the gradients' bytes, the bus
// bandwidth the bytes that each link carries in a ring, times 2(n-1)/n. Both are 0 where the bucket
// took no time.
[[nodiscard]] double algorithm_bandwidth(const BucketTime& bucket);
[[nodiscard]] double bus_bandwidth(const BucketTime& bucket, int ranks);

// A row per result of collective_times(); kCollectivesNote belongs below the table.
[[nodiscard]] std::vector<CollectiveTimes> collective_times(const Summary& summary);

// A row per bucket of each result of collective_times().
[[nodiscard]] Table collective_table(const Summary& summary);

// A row per bucket of each cell.
[[nodiscard]] Table bucket_table(const Summary& summary);

inline constexpr std::string_view kCollectivesNote =
    "Time of a collective: in each sample the rank's that has the least, which waited for nobody, "
    "and of that the mean; of a cell: the sum over its buckets. Waited for: the time in which "
    "compute stands still after backward until a collective is done (phase exposed_comm), on the "
    "rank that has the least in a sample. Not waited for: 1 - waited for / all collectives. It ran "
    "behind backward, or behind the copying of gradients out of earlier buckets (phase "
    "bucket_copy). On host devices it runs on compute's own cores and may slow compute instead: "
    "`tandem profile contention` measures that. After backward, at least: the larger of the last "
    "bucket's share of the bytes, which is ready only when backward ends, and 1 - backward / all "
    "collectives: no schedule puts that much behind backward, but copies may still hide some of "
    "it, and on a shared core the last collective may begin before compute's thread comes to its "
    "wait. algbw = gradient bytes / "
    "time, busbw = algbw x 2(n-1)/n for n devices; GB are 10^9 bytes.";

}  // namespace tandem::reports
