// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "reports/report.h"
#include "reports/side_by_side.h"

namespace tandem::reports {

// The report as one page that loads nothing: styles, charts and figures are inside. The verdict
// comes first and, like the tables, needs no script. Tables are cut at some hundred rows and step
// times are thinned, which the page says where it does; the files beside it have all.
[[nodiscard]] std::string to_html(const Report& report);

// Several documents on one page: what changes from the first to the others, and the charts with the
// curves of all. What each says by itself is on the page of its own.
[[nodiscard]] std::string to_html(const SideBySide& side);

}  // namespace tandem::reports
