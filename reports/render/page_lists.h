// SPDX-License-Identifier: Apache-2.0
//
// Private to the page: the parts of its data that are separate lists; page_data.cc documents their
// form.
#pragma once

#include <cstddef>
#include <nlohmann/json.hpp>

#include "reports/report.h"

namespace tandem::reports {

using Json = nlohmann::ordered_json;

// The value to six digits: more digits than any figure of the page means, and half the bytes.
[[nodiscard]] double brief(double value);

// The centre, low and high end; a following "unbounded" tells why the ends are missing.
[[nodiscard]] Json triple(const stats::Estimate& estimate, double scale = 1);

// At most `most` comparisons, on the most devices first, since comparisons on few devices say
// least.
[[nodiscard]] Json pairs_json(const Summary& summary, std::size_t most);

[[nodiscard]] Json buckets_json(const Summary& summary);
[[nodiscard]] Json wires_json(const Report& report);

}  // namespace tandem::reports
