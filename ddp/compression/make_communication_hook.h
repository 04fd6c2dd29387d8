// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "common/comm/communicator.h"
#include "ddp/communication_hook.h"
#include "ddp/compression/compression_options.h"

namespace tandem::ddp {

// The hook that the options ask for; null for no compression. Device and communicator outlive the
// hook. Throws a usage error where the options contradict one another.
[[nodiscard]] std::unique_ptr<CommunicationHook> make_communication_hook(
    const CompressionOptions& options, Device& device, Communicator& communicator);

}  // namespace tandem::ddp
