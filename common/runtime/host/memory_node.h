// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>

namespace tandem::host {

// A NUMA node that memory should lie on. Several threads may use one object at once.
class MemoryNode {
 public:
  explicit MemoryNode(int os_number);
  ~MemoryNode();
  MemoryNode(const MemoryNode&) = delete;
  MemoryNode& operator=(const MemoryNode&) = delete;

  // Runs `allocate`, during which the calling thread's new pages come from this node as long as the
  // node has some left. Where the machine has no such node, or the system forbids the choice (a
  // container may), pages come from where they would have come anyway. Afterwards the thread's
  // earlier policy is back.
  void prefer_during(const std::function<void()>& allocate) const;

 private:
  struct Place;
  std::unique_ptr<const Place> place_;  // null where there is no such node
};

}  // namespace tandem::host
