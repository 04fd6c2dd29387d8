// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "common/results/launch_record.h"
#include "common/stats/estimate.h"
#include "reports/summary.h"

namespace tandem::reports {

// "12.34 ms [11.9 .. 12.8]"; the interval in the centre's unit, left out where there is none.
[[nodiscard]] std::string duration_text(const stats::Estimate& seconds);

// "12,345 [11,900 .. 12,800]"; "12,345 [interval unbounded]" where is_unbounded().
[[nodiscard]] std::string rate_text(const stats::Estimate& per_second);

// "1.12x [1.08 .. 1.16]"; what is beyond a factor of a thousand reads ">1000" or "<0.001".
[[nodiscard]] std::string ratio_text(const stats::Estimate& ratio);

// "78 % [76 .. 80]", of a share.
[[nodiscard]] std::string whole_percent_text(const stats::Estimate& share);

// "1.12x": the centre alone.
[[nodiscard]] std::string factor_text(double ratio);

// Several launches that scatter so much that the interval has no upper end.
[[nodiscard]] bool is_unbounded(const stats::Estimate& estimate);

// "95 % interval 1.08 to 1.16", or why there is none.
[[nodiscard]] std::string interval_words(const stats::Estimate& ratio);

// "dp", "ddp", "independent (threads)", "ddp, grads=views": names the launch where the strategy
// alone does not, and the options.
[[nodiscard]] std::string strategy_label(const results::Cell& cell);

// What has to stand beside a cell's figures: "oversubscribed", "modelled", ...
[[nodiscard]] std::vector<std::string> marks_of(const CellSummary& summary);

// "1 device", "2 devices"
[[nodiscard]] std::string count_text(long long count, const std::string& noun);

[[nodiscard]] std::string join(const std::vector<std::string>& parts, const std::string& between);

}  // namespace tandem::reports
