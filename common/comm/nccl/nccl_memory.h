// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <mutex>
#include <vector>

#include "common/runtime/device.h"

namespace tandem::nccl {

// The memory that one rank's communicator has given out.
//
// To take or to free memory of a GPU waits for its peers' work. Between the launches of one
// collective on two GPUs of a process that is a deadlock, so both happen only while all ranks are
// quiet, when the communicator takes memory and calls free_retired(); a buffer that goes is retired
// until then, and counts as used. Thread-safe. Shared by the communicator and its buffers, which
// may outlive it.
class Memory : public std::enable_shared_from_this<Memory> {
 public:
  // The same memory, which is retired when the result goes, at any time and on any thread.
  [[nodiscard]] std::unique_ptr<Buffer> keep(std::unique_ptr<Buffer> taken);

  // Frees what was retired.
  void free_retired();

  // From now on buffers free their memory themselves.
  void close();

 private:
  class Kept;
  void retire(std::unique_ptr<Buffer> buffer) noexcept;

  std::mutex mutex_;  // guards all below
  std::vector<std::unique_ptr<Buffer>> retired_;
  bool closed_ = false;
};

}  // namespace tandem::nccl
