// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>

#include "common/comm/bootstrap.h"
#include "common/comm/communicator.h"

namespace tandem {

// Makes the communicator that moves the host's side, on a host device.
using MakeHostCommunicator =
    std::function<std::unique_ptr<Communicator>(Device& host, const CommunicatorOptions& options)>;

// Collectives among devices of any kind through the host: values are copied into pinned memory,
// moved there by a host communicator, and copied back. For ranks that share a GPU, which NCCL
// refuses unless its variable allows it.
//
// The caller waits in each call until the result is on its device, so a collective overlaps with no
// work of the caller, and its errors are thrown by the call. The wait is on purpose: a stream that
// waited for the host instead would hold up other ranks on the same GPU.
//
// Collective; `bootstrap` and `device` outlive the communicator.
[[nodiscard]] std::unique_ptr<Communicator> make_staged_communicator(
    Bootstrap& bootstrap, Device& device, const CommunicatorOptions& options,
    const MakeHostCommunicator& make_host);

}  // namespace tandem
