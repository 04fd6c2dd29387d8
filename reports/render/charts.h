// SPDX-License-Identifier: Apache-2.0
//
// Private to the page: the charts, each with a heading and a hint on how to read the chart.
// Parameters named `below` are markup, such as the chart's figures as a table; the shown figures
// come from the page's data.
#pragma once

#include <string>

#include "reports/render/page_data.h"

namespace tandem::reports {

// The section of the scaling chart, with `above` before the chart.
[[nodiscard]] std::string scaling_chart(const std::string& above, const std::string& below);
[[nodiscard]] std::string phase_chart(const std::string& below);
[[nodiscard]] std::string memory_chart(const std::string& below);
[[nodiscard]] std::string wire_chart(const std::string& below);
[[nodiscard]] std::string bucket_chart(const std::string& below);
// The chart without a heading; empty where no point compares dp and ddp.
[[nodiscard]] std::string forest_chart(const PageData& data);
// The chart of samples; empty where there are no steps.
[[nodiscard]] std::string sample_chart(const PageData& data);

}  // namespace tandem::reports
