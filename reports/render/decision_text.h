// SPDX-License-Identifier: Apache-2.0
//
// The sections of a projection onto described hardware: the answer and the steps.
#pragma once

#include <string>
#include <string_view>

#include "reports/model/projection.h"
#include "reports/text/table.h"

namespace tandem::reports {

// How a format writes the parts of a projection.
struct ProjectionFormat {
  std::string (*table)(const TextTable&);
  std::string_view heading;  // begins a title
  std::string_view mark;     // begins a line of a list
};

// What stands behind the figures, in one sentence: errors on published steps of systems with the
// same GPU, or that there are none.
[[nodiscard]] std::string standing_of(const Decisions& decisions);

// A cell in the words of the answer and why it was not projected, in one line.
[[nodiscard]] std::string not_projected_line(const NotProjected& cell, const Decisions& decisions);

// All sections. The projection has decisions.
[[nodiscard]] std::string decision_sections(const Projection& projection,
                                            const ProjectionFormat& format);

}  // namespace tandem::reports
