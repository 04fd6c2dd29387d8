// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "common/comm/communicator.h"

namespace tandem {

// A world of one rank, on any device: a collective copies its values on the stream and waits for no
// peer. For jobs of one rank whose strategy needs a communicator.
[[nodiscard]] std::unique_ptr<Communicator> make_solo_communicator(
    Device& device, const CommunicatorOptions& options = {});

}  // namespace tandem
