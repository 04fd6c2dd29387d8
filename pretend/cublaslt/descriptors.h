// SPDX-License-Identifier: Apache-2.0
//
// Descriptors of the pretended cuBLASLt. A caller may bring the storage and copies it as bytes, so
// each is plain data that fits into the opaque structure of the library's header. A descriptor
// keeps what the log tells of a product; other attributes are accepted and dropped.
#pragma once

#include <cstdint>

namespace tandem::pretend {

struct Operation {
  int32_t compute_type = 0;
  int32_t scale_type = 0;
  int32_t a = 0;  // 0: as it lies, else transposed
  int32_t b = 0;
};
static_assert(sizeof(Operation) <= 184);  // 23 words in CUDA 12, 32 in CUDA 13

struct Layout {
  int32_t type = 0;  // cudaDataType
  int32_t batch = 1;
  uint64_t rows = 0;
  uint64_t columns = 0;
  int64_t leading = 0;
};
static_assert(sizeof(Layout) <= 64);

struct Preference {
  uint64_t nothing_is_kept = 0;
};
static_assert(sizeof(Preference) <= 64);

}  // namespace tandem::pretend
