// SPDX-License-Identifier: Apache-2.0
#include "common/results/launch_record.h"

#include <fmt/format.h>

namespace tandem::results {

std::string Cell::name() const {
  std::string text =
      fmt::format("{}/{}/{}/devices:{}/batch:{}", strategy, launch, model, devices, global_batch);
  for (const auto& [option, value] : options) text += fmt::format("/{}:{}", option, value);
  return text;
}

std::string_view to_string(Status status) {
  return kStatusNames.at(static_cast<std::size_t>(status));
}

}  // namespace tandem::results
