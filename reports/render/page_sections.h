// SPDX-License-Identifier: Apache-2.0
//
// Private to the page: its sections as HTML; a section without results is empty.
#pragma once

#include <string>

#include "reports/answer/report.h"
#include "reports/render/page_data.h"

namespace tandem::reports {

// The hardware and verdict of one report.
[[nodiscard]] std::string verdict_section(const Report& report);
[[nodiscard]] std::string advice_section(const Report& report);
[[nodiscard]] std::string scaling_section(const Report& report);
[[nodiscard]] std::string gap_section(const Report& report);
[[nodiscard]] std::string map_section(const Report& report, const PageData& data);
[[nodiscard]] std::string detail_section(const Report& report, const PageData& data);
[[nodiscard]] std::string published_section(const Report& report);
[[nodiscard]] std::string trust_section(const Report& report);

}  // namespace tandem::reports
