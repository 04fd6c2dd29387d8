// SPDX-License-Identifier: Apache-2.0
//
// A link as a person asks for one, LATENCY:BANDWIDTH.
#pragma once

#include <string>
#include <string_view>

#include "common/runtime/link_model.h"

namespace tandem {

struct LinkRequest {
  std::string text;  // as asked for
  LinkModel link{};
};

// Parses "20us:1GBps" (decimal units: KBps, MBps, GBps, TBps); throws a usage error for any other
// text.
[[nodiscard]] LinkRequest parse_link(std::string_view text);

}  // namespace tandem
