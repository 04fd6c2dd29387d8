// SPDX-License-Identifier: Apache-2.0
//
// Counts the values that the host read back from pretended devices after kernels that computed
// nothing: what a program decides by such a value may differ from a real run.
#pragma once

#include <cstdint>

namespace tandem::pretend::read_back {

// Something that was to write memory of the device did not: kernels, products, large copies.
void note_launch(int device);

// The bytes at `address` hold what they would hold on a GPU, until the next launch there.
void note_known(int device, const void* address, uint64_t bytes);

// The host copies the bytes to itself. Counted unless they are known.
void note_read(int device, const void* address, uint64_t bytes);

[[nodiscard]] int64_t count();

// In a child of fork(): it has launched and read nothing yet.
void forget_parent();

// Says on stderr how often it happened, if it did. Once per process.
void report();

}  // namespace tandem::pretend::read_back
