// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>

namespace tandem::host {

// A NUMA node that memory is wanted on. Threads may use one object at once.
class MemoryNode {
 public:
  explicit MemoryNode(int os_number);
  ~MemoryNode();
  MemoryNode(const MemoryNode&) = delete;
  MemoryNode& operator=(const MemoryNode&) = delete;

  // Runs `allocate`, in which the calling thread's new pages come from this node as long as it has
  // some left. Where the machine has no such node, or the system lets nobody choose (a container
  // may not), pages come from where they would have. The thread's earlier policy is back after it.
  void prefer_during(const std::function<void()>& allocate) const;

 private:
  struct Place;
  std::unique_ptr<const Place> place_;  // absent where there is no such node
};

}  // namespace tandem::host
