// SPDX-License-Identifier: Apache-2.0
//
// The cores that the threads of each GPU run on, and the memory near these cores.
#pragma once

#include <boost/noncopyable.hpp>
#include <functional>
#include <memory>
#include <vector>

namespace tandem::host {

// The OS numbers of a core's hardware threads that may be used.
using Core = std::vector<int>;

// For each device the OS numbers that the device's threads are bound to, ascending and never none.
// `cores`, not empty, are the cores that may be used, in the machine's order; near[d] are the OS
// numbers near device d, in any order. A pure function.
//
// A device gets cores that have a thread near the device; where no usable core is known to be near,
// all cores serve the device. Cores that serve the same devices are shared out among these devices
// evenly, in contiguous pieces: no core has two devices, unless the devices outnumber the cores. No
// core is split.
[[nodiscard]] std::vector<std::vector<int>> share_cores(const std::vector<Core>& cores,
                                                        const std::vector<std::vector<int>>& near);

// Groups these hardware threads by core, in the machine's order; each thread is a group where the
// machine does not report its cores.
[[nodiscard]] std::vector<Core> whole_cores(const std::vector<int>& cpus);

// OS numbers of the NUMA nodes that these hardware threads belong to, ascending; none where the
// machine does not report its nodes.
[[nodiscard]] std::vector<int> numa_nodes_of(const std::vector<int>& cpus);

// OS numbers of the cores that this process may run on, one hardware thread per physical core, in
// the machine's order.
[[nodiscard]] std::vector<int> allowed_cores();

// Binds the calling thread to one core. Throws a failure that names the core where binding is
// refused.
void bind_this_thread(int core);

// Binds the calling thread to these hardware threads, at least one. Throws as above.
void bind_this_thread(const std::vector<int>& cpus);

// Binds every thread of this process, including threads of libraries; later threads inherit the
// binding of the thread that starts them.
void bind_this_process(const std::vector<int>& cpus);

// Binds the calling thread for the life of this object, then restores the earlier binding.
class ScopedBinding : boost::noncopyable {
 public:
  explicit ScopedBinding(int core);
  ~ScopedBinding();

 private:
  std::vector<int> before_;
};

// A NUMA node that memory should lie on. Several threads may use one object at once.
class MemoryNode : boost::noncopyable {
 public:
  explicit MemoryNode(int os_number);
  ~MemoryNode();

  // Runs `allocate`, during which the calling thread's new pages come from this node as long as the
  // node has some left. Where the machine has no such node, or the system forbids the choice (a
  // container may), pages come from where they would have come anyway. Afterwards the thread's
  // earlier policy is back.
  void prefer_during(const std::function<void()>& allocate) const;

 private:
  struct Place;
  std::unique_ptr<const Place> place_;  // null where there is no such node
};

// The one-way time in nanoseconds of a cache line between two cores: two threads, one bound to each
// core, pass a word to and fro; the median of several rounds. 0 where both are the same core. Keeps
// both cores busy for some milliseconds, so no measurement may run at the same time.
[[nodiscard]] double ping_pong_ns(int one_core, int other_core);

}  // namespace tandem::host
