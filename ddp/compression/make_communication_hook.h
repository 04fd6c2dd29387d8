// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "common/comm/communicator.h"
#include "ddp/communication_hook.h"
#include "ddp/compression/compression_options.h"

namespace tandem::ddp {

// Null for no compression. Both outlive the hook. Throws a usage error where the options make no
// sense.
[[nodiscard]] std::unique_ptr<CommunicationHook> make_communication_hook(
    const CompressionOptions& options, Device& device, Communicator& communicator);

}  // namespace tandem::ddp
