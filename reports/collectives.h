// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "reports/summary.h"
#include "reports/table.h"

namespace tandem::reports {

// One gradient collective over a cell's launches.
struct BucketTime {
  std::int64_t bytes = 0;  // of gradients
  // Per step, of the rank that took least in a sample: it waited for nobody; seconds.
  stats::Estimate seconds;
};

// A cell's gradient collectives, in launch order.
struct CollectiveTimes {
  const CellSummary* cell = nullptr;
  int ranks = 0;  // two or more: a world of one moves nothing and has no bandwidth
  std::vector<BucketTime> buckets;
  int left_out = 0;         // launches without collectives, or with other buckets than the first
  stats::Estimate total;    // of all buckets, seconds per step
  stats::Estimate exposed;  // waited for: the least rank's exposed_comm, seconds per step
  // 1 - exposed / total of each launch, and of that the mean. Absent where nothing took time.
  std::optional<stats::Estimate> hidden_share;

  [[nodiscard]] std::int64_t bytes() const;
  // Of the bytes: what no schedule hides behind backward, which has ended when it is ready.
  [[nodiscard]] double last_share() const;
  // The least share of all collectives that runs after backward: the last bucket's, or what is
  // longer than backward. Copies out of buckets may hide it, so hidden_share may be above the rest.
  [[nodiscard]] double after_backward_share() const;
};

// Bytes per second as the caller has them done with, and as each link carries them in a ring: times
// 2(n-1)/n. Both 0 where the bucket took no time.
[[nodiscard]] double algorithm_bandwidth(const BucketTime& bucket);
[[nodiscard]] double bus_bandwidth(const BucketTime& bucket, int ranks);

// One for each measured cell of several ranks whose records have collectives. Points into the
// summary, and the summary's document has to live.
[[nodiscard]] std::vector<CollectiveTimes> collective_times(const Summary& summary);

// A row for each of them; kCollectivesNote belongs below the table.
[[nodiscard]] Table collective_table(const Summary& summary);

// A row per bucket of each of them.
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
