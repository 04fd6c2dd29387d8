// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "common/comm/communicator.h"

namespace tandem {

// A world of one rank, on any device: what is to be moved is copied on the stream, and nobody is
// waited for. For jobs that have one rank and need a communicator for form's sake.
[[nodiscard]] std::unique_ptr<Communicator> make_solo_communicator(
    Device& device, const CommunicatorOptions& options = {});

}  // namespace tandem
