// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "reports/answer/report.h"
#include "reports/answer/side_by_side.h"

namespace tandem::reports {

// The report as one page that loads nothing: styles, charts and figures are inside. The verdict
// comes first and, like the tables, needs no script. Tables are cut at some hundred rows and step
// times are thinned; the page says where, and the files beside the page have all data.
[[nodiscard]] std::string to_html(const Report& report);

// Several documents on one page: the changes from the first document to the others, and charts with
// the curves of all. Each document's own page has its verdict.
[[nodiscard]] std::string to_html(const SideBySide& side);

// Files that every page carries, embedded at build time: the page needs no network, and the program
// no data files. Chart.js is the system package's, with the licence in its first lines.
[[nodiscard]] std::string_view chart_js();
[[nodiscard]] std::string_view drawing_js();
[[nodiscard]] std::string_view saving_js();
[[nodiscard]] std::string_view scaling_js();
[[nodiscard]] std::string_view tables_js();
[[nodiscard]] std::string_view page_js();
[[nodiscard]] std::string_view page_css();

}  // namespace tandem::reports
