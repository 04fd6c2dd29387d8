// SPDX-License-Identifier: Apache-2.0
//
// The share of exposed communication: how long a cell's gradient collectives take, and how much of
// that time the step waits for.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "common/stats/estimate.h"
#include "reports/model/summary.h"

namespace tandem::reports {

// One gradient collective over a cell's launches.
struct BucketTime {
  std::int64_t bytes = 0;  // bytes of gradients
  // Seconds per step of the fastest rank in each sample, which waited for no other rank.
  stats::Estimate seconds;
};

// A cell's gradient collectives, in launch order.
struct CommunicationTimes {
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

// The cells of two ranks or more whose launches recorded their collectives.
[[nodiscard]] std::vector<CommunicationTimes> communication_times(const Summary& summary);

}  // namespace tandem::reports
