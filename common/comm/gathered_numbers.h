// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstring>
#include <string>
#include <vector>

namespace tandem {

// Every rank's number, by rank, through `gather`, which returns all ranks' texts. A number travels
// as its bits, so that all ranks see the same number.
template <class Gather>
[[nodiscard]] std::vector<double> gathered_numbers(double mine, Gather&& gather) {
  std::string bits(sizeof(mine), '\0');
  std::memcpy(bits.data(), &mine, sizeof(mine));
  std::vector<double> values;
  for (const std::string& theirs : gather(bits)) {
    values.emplace_back();
    std::memcpy(&values.back(), theirs.data(), sizeof(double));
  }
  return values;
}

}  // namespace tandem
