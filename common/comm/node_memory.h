// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "common/comm/bootstrap.h"
#include "common/runtime/host/host_memory.h"
#include "common/runtime/host/parking.h"

namespace tandem {

// One zero-filled mapping that all ranks of the node see. Collective. Threads share the same
// mapping (one address, which ThreadSanitizer needs); each process has a mapping onto the same
// pages. Before any rank touches the mapping, each rank reserves the pages that it uses, and all
// ranks agree that every reservation succeeded.
[[nodiscard]] std::shared_ptr<host::SharedMapping> map_node_memory(Bootstrap& bootstrap,
                                                                   Bytes size);

// Does the same, and rank 0 reserves all pages.
[[nodiscard]] std::shared_ptr<host::SharedMapping> map_reserved_node_memory(Bootstrap& bootstrap,
                                                                            Bytes size);

// A word of memory that all ranks of a node see: a rank that gives up raises the flag, and the
// others look at the flag while they wait. Ranks on other nodes do not see it. Thread-safe.
class AbortFlag {
 public:
  // Collective; `bootstrap` is not kept.
  explicit AbortFlag(Bootstrap& bootstrap);

  void raise() noexcept { word().store(1, std::memory_order_release); }
  [[nodiscard]] bool is_raised() const noexcept {
    return word().load(std::memory_order_acquire) != 0;
  }

 private:
  [[nodiscard]] host::Word& word() const noexcept;

  const std::shared_ptr<host::SharedMapping> mapping_;  // shared with the ranks that are threads
};

}  // namespace tandem
