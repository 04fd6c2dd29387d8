// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "common/base/checksum.h"
#include "common/comm/communicator.h"

namespace tandem {

// A hash of everything that the ranks must have enqueued alike.
class Note {
 public:
  void add(std::int64_t part) { hash_.add(static_cast<std::uint64_t>(part)); }

  [[nodiscard]] std::int64_t value() const { return static_cast<std::int64_t>(hash_.value()); }

 private:
  Fnv1a hash_;
};

// The note of a collective: kind, operation, root, and the blocks or else the type and number of
// elements.
[[nodiscard]] Note note_of(const CollectiveRequest& collective);

}  // namespace tandem
