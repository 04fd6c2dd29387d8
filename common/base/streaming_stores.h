// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <boost/noncopyable.hpp>
#include <cstdint>

namespace tandem {

// Stores that bypass the caches, for results too large for the caches: a cache line that is written
// whole is not read first. A thread, even the writing one, may read the results only after this
// object is destroyed. Machines without such stores use plain ones. One thread at a time.
class StreamingStores : boost::noncopyable {
 public:
  ~StreamingStores();

  // Copies to[i] = from[i]; `to` and `from` do not overlap.
  void copy(float* to, const float* from, std::int64_t count);
};

}  // namespace tandem
