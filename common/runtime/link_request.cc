// SPDX-License-Identifier: Apache-2.0
#include "common/runtime/link_request.h"

#include "common/base/error.h"

namespace tandem {

LinkRequest parse_link(std::string_view text) {
  const std::size_t colon = text.find(':');
  if (colon == text.npos) {
    fail(ErrorKind::kUsage, "--link: '{}' is no link: give LATENCY:BANDWIDTH, such as 20us:1GBps",
         text);
  }
  return {.text = std::string(text),
          .link = {.latency = parse_duration(text.substr(0, colon), "--link"),
                   .bytes_per_second =
                       parse_bandwidth(text.substr(colon + 1), fmt::format("--link: '{}'", text))}};
}

}  // namespace tandem
