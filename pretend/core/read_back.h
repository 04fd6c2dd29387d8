// SPDX-License-Identifier: Apache-2.0
//
// Counts the values that the host read back from pretended devices after kernels that computed
// nothing: what a program decides by such a value may differ from a real run.
#pragma once

#include <cstdint>

namespace tandem::pretend::read_back {

// Something that was to write memory of the device did not, and nobody knows where: kernels,
// products.
void note_launch(int device);

// The bytes at `address` hold what they would hold on a GPU, until the next launch there.
void note_known(int device, const void* address, uint64_t bytes);

// They do not any more, whatever is launched.
void note_unknown(int device, const void* address, uint64_t bytes);

// How many of the bytes, from the first on.
[[nodiscard]] uint64_t known_bytes(int device, const void* address, uint64_t bytes);

[[nodiscard]] inline bool is_known(int device, const void* address, uint64_t bytes) {
  return known_bytes(device, address, bytes) == bytes;
}

// The host copies the bytes to itself. Counted unless the first is known: behind a value that is
// known there may be memory that nobody has written, which torch sends along with objects.
void note_read(int device, const void* address, uint64_t bytes);

[[nodiscard]] int64_t count();

// In a child of fork(): it has launched and read nothing yet.
void forget_parent();

// Says on stderr how often it happened, if it did. Once per process.
void report();

}  // namespace tandem::pretend::read_back
