// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "reports/render/formats.h"

namespace tandem::reports {

// All that the terminal can have, in lines that nothing breaks.
template <class Subject>
std::string whole_text(const Subject& subject) {
  return to_terminal(subject, {.columns = 100'000, .has_details = true});
}

}  // namespace tandem::reports
