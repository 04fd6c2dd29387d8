// SPDX-License-Identifier: Apache-2.0
//
// Private to the page: those parts of its data that are lists of their own; page_data.cc tells
// their form.
#pragma once

#include <cstddef>
#include <nlohmann/json.hpp>

#include "reports/report.h"

namespace tandem::reports {

using Json = nlohmann::ordered_json;

// Six digits: more than any figure here means, and half the bytes.
[[nodiscard]] double brief(double value);

// Centre, low and high end; "unbounded" after them tells why there are no ends.
[[nodiscard]] Json triple(const stats::Estimate& estimate, double scale = 1);

// At most so many comparisons: those on the most devices, so that what is left out says least.
[[nodiscard]] Json pairs_json(const Summary& summary, std::size_t most);

[[nodiscard]] Json buckets_json(const Summary& summary);
[[nodiscard]] Json wires_json(const Report& report);

}  // namespace tandem::reports
