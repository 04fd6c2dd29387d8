// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "common/comm/blocking_transport.h"
#include "common/comm/bootstrap.h"
#include "common/comm/communicator.h"

namespace tandem {

// A communicator on host devices over the blocking calls of a message-passing library, which the
// stream's worker makes. The library treats all memory alike, so allocate() returns the device's
// own memory. A sum of 16-bit numbers is rounded at each addition of two numbers; an average is
// rounded once more after the sum is scaled.
//
// Scatter and gather are messages from and to the root, one rank after the other. A message waits
// for its receiver, so two ranks that both send to each other before they receive wait for ever.
//
// `bootstrap` gives the ranks and is not kept; `device` outlives the communicator.
[[nodiscard]] std::unique_ptr<Communicator> make_blocking_communicator(
    Bootstrap& bootstrap, Device& device, const CommunicatorOptions& options,
    std::unique_ptr<BlockingTransport> transport);

// Throws a usage error where the (host) device has a modelled link, which models one node's memory
// only. `transport` is the transport's name, for the message.
void refuse_modelled_link(Device& device, const char* transport);

}  // namespace tandem
