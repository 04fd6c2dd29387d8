// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

namespace tandem::host {

// OS numbers of the cores that this process may run on, one hardware thread per physical core, in
// the machine's order.
[[nodiscard]] std::vector<int> allowed_cores();

// Binds the calling thread to one core. Throws a failure that names the core where it may not.
void bind_this_thread(int core);

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
