// SPDX-License-Identifier: Apache-2.0
//
// Private to the page: its charts, each with its heading and how to read it. What is named `below`
// is markup, such as the same as a table; what is shown comes with the page's data.
#pragma once

#include <string>

#include "reports/page_data.h"

namespace tandem::reports {

// A section of its own, with `above` before the chart.
[[nodiscard]] std::string scaling_chart(const std::string& above, const std::string& below);
[[nodiscard]] std::string phase_chart(const std::string& below);
[[nodiscard]] std::string memory_chart(const std::string& below);
[[nodiscard]] std::string wire_chart(const std::string& below);
[[nodiscard]] std::string bucket_chart(const std::string& below);
// Without a heading; nothing where dp and ddp meet nowhere.
[[nodiscard]] std::string forest_chart(const PageData& data);
// Nothing where there are no steps.
[[nodiscard]] std::string sample_chart(const PageData& data);

}  // namespace tandem::reports
