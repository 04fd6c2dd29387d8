// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "common/comm/blocking_transport.h"
#include "common/comm/bootstrap.h"
#include "common/comm/communicator.h"

namespace tandem {

// A communicator on host devices over the blocking calls of a message-passing library, made on the
// stream's worker. All memory is alike to it: allocate() gives the device's own. A sum of 16-bit
// numbers is rounded wherever two of them are added, an average once more after the sum is scaled.
//
// Scatter and gather are messages from and to the root, one rank after the other. Messages wait for
// their receiver, so two ranks that send to each other first and receive after that wait for ever.
//
// `bootstrap` says who is who and is not kept; `device` outlives the communicator.
[[nodiscard]] std::unique_ptr<Communicator> make_blocking_communicator(
    Bootstrap& bootstrap, Device& device, const CommunicatorOptions& options,
    std::unique_ptr<BlockingTransport> transport);

// Throws a usage error where the (host) device has a modelled link, which is of one node's memory.
// `transport` is its name, for the message.
void refuse_modelled_link(Device& device, const char* transport);

}  // namespace tandem
