// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace tandem {

// Stores that go past the caches to memory, for results too large to stay in them: a line that is
// written whole is not read first. Whoever reads them, on whatever thread, must do so after this
// object is gone. Plain stores on machines that have none such. One thread at a time.
class StreamingStores {
 public:
  StreamingStores() = default;
  ~StreamingStores();
  StreamingStores(const StreamingStores&) = delete;
  StreamingStores& operator=(const StreamingStores&) = delete;

  // to[i] = from[i]; the two do not overlap.
  void copy(float* to, const float* from, std::int64_t count);
};

}  // namespace tandem
