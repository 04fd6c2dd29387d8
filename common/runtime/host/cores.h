// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "common/runtime/host/core_shares.h"

namespace tandem::host {

// OS numbers of the hardware threads that the calling thread may run on, ascending, as the
// operating system reports the binding.
[[nodiscard]] std::vector<int> allowed_cpus();

// Groups these hardware threads by core, in the machine's order; each thread is a group where the
// machine does not tell its cores.
[[nodiscard]] std::vector<Core> whole_cores(const std::vector<int>& cpus);

// OS numbers of the NUMA nodes that these hardware threads belong to, ascending; none where the
// machine does not tell its nodes.
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
class ScopedBinding {
 public:
  explicit ScopedBinding(int core);
  ~ScopedBinding();
  ScopedBinding(const ScopedBinding&) = delete;
  ScopedBinding& operator=(const ScopedBinding&) = delete;

 private:
  std::vector<int> before_;
};

}  // namespace tandem::host
