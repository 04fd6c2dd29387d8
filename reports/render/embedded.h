// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace tandem::reports {

// Files that every page carries, embedded at build time: the page needs no network, and the program
// no data files. Chart.js is the system package's, with the licence in its first lines.
[[nodiscard]] std::string_view chart_js();
[[nodiscard]] std::string_view drawing_js();
[[nodiscard]] std::string_view scaling_js();
[[nodiscard]] std::string_view page_js();
[[nodiscard]] std::string_view page_css();

}  // namespace tandem::reports
