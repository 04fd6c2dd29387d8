// SPDX-License-Identifier: Apache-2.0
#include "common/base/throw_cause.h"

namespace tandem {

void throw_cause(const std::vector<std::optional<Error>>& errors) {
  const std::optional<Error>* consequence = nullptr;
  for (const auto& error : errors) {
    if (!error) continue;
    if (error->kind() != ErrorKind::kCommunication) throw Error(*error);
    if (consequence == nullptr) consequence = &error;
  }
  if (consequence != nullptr) throw Error(**consequence);
}

}  // namespace tandem
