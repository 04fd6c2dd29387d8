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
  stats::Estimate exposed;  // the least rank's exposed_comm, seconds per step
  // 1 - exposed / total of each launch, and of that the mean. Absent where nothing took time.
  std::optional<stats::Estimate> hidden_share;

  [[nodiscard]] std::int64_t bytes() const;
  // Of the bytes: what no schedule can hide, since backward has ended when it is ready.
  [[nodiscard]] double last_share() const;
  // The share of all collectives that is exposed at best: the last bucket's, or what is longer than
  // backward.
  [[nodiscard]] double unhideable_share() const;
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
    "and of that the mean; of a cell: the sum over its buckets. Exposed: from the end of backward "
    "until all are done, on the "
    "rank that has the least in a sample. Hidden: 1 - exposed / all collectives. The last bucket "
    "is ready when backward ends, so that nothing hides it. Cannot hide: the larger of its share "
    "of "
    "the bytes and 1 - backward / all collectives. algbw = gradient bytes / "
    "time, busbw = algbw x 2(n-1)/n for n devices; GB are 10^9 bytes.";

}  // namespace tandem::reports
