// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "reports/model/summary.h"
#include "reports/text/table.h"

namespace tandem::reports {

// A row per result of communication_times(); kCollectivesNote belongs below the table.
[[nodiscard]] TextTable collective_table(const Summary& summary);

// A row per bucket of each cell.
[[nodiscard]] TextTable bucket_table(const Summary& summary);

inline constexpr std::string_view kCollectivesNote =
    "Time of a collective: in each sample the rank's that has the least, which waited for nobody, "
    "and of that the mean; of a cell: the sum over its buckets. Waited for: the time in which "
    "compute stands still after backward until a collective is done (phase exposed_comm), on the "
    "rank that has the least in a sample. Not waited for: 1 - waited for / all collectives. It ran "
    "behind backward, or behind the copying of gradients out of earlier buckets (phase "
    "bucket_copy). On host devices it runs on compute's own cores and may slow compute instead: "
    "`tandem contention` measures that. After backward, at least: the larger of the last "
    "bucket's share of the bytes, which is ready only when backward ends, and 1 - backward / all "
    "collectives: no schedule puts that much behind backward, but copies may still hide some of "
    "it, and on a shared core the last collective may begin before compute's thread comes to its "
    "wait. algbw = gradient bytes / time, busbw = algbw x 2(n-1)/n for n devices; GB are 10^9 "
    "bytes.";

}  // namespace tandem::reports
