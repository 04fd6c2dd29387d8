// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "common/runtime/host/core_shares.h"

namespace tandem::host {

// OS numbers of the hardware threads that the calling thread may run on, ascending: what the
// operating system says, whatever was asked for.
[[nodiscard]] std::vector<int> allowed_cpus();

// These hardware threads by the core that they belong to, in the machine's order; each by itself
// where the machine does not tell.
[[nodiscard]] std::vector<Core> whole_cores(const std::vector<int>& cpus);

// OS numbers of the NUMA nodes that these hardware threads belong to, ascending; none where the
// machine does not tell.
[[nodiscard]] std::vector<int> numa_nodes_of(const std::vector<int>& cpus);

// OS numbers of the cores that this process may run on, one hardware thread per physical core, in
// the machine's order.
[[nodiscard]] std::vector<int> allowed_cores();

// Binds the calling thread to one core. Throws a failure that names the core where it may not.
void bind_this_thread(int core);

// The same to any of these hardware threads, not none.
void bind_this_thread(const std::vector<int>& cpus);

// The same for every thread that this process has, libraries' own included; later ones inherit from
// the thread that starts them.
void bind_this_process(const std::vector<int>& cpus);

// Binds the calling thread for the life of this object, then restores what was before.
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
