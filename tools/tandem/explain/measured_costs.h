// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "tools/tandem/launch/torch_twin.h"

namespace tandem::cli {

// The costs of torch's work on the host per kind, as --dispatch-cost takes them, measured now on
// pretended GPUs and one core, with an update by the optimizer that is named, or the usual one
// where none is. Says them with their intervals on stderr. Throws a usage error where there can be
// none for that torch, such as one built without CUDA, a failure where torch's answer cannot be
// read, and Interrupted.
[[nodiscard]] std::string dispatch_costs_of(const TorchTwin& twin, const std::string& optimizer);

}  // namespace tandem::cli
