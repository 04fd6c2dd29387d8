// SPDX-License-Identifier: Apache-2.0
//
// Descriptors of the pretended cuBLASLt. A caller may bring the storage and copies it as bytes, so
// each is plain data that fits into the opaque structure of the library's header. A descriptor
// keeps the attributes that are known: those that torch 2.5 to 2.15 and Tandem's CUDA module set.
#pragma once

#include <cstdint>

namespace tandem::pretend {

struct Operation {
  int32_t compute_type = 0;
  int32_t scale_type = 0;
  int32_t pointer_mode = 0;  // of alpha and beta: on the host
  int32_t a = 0;             // 0: as it lies, else transposed
  int32_t b = 0;
  uint32_t epilogue = 1;  // none
  uint64_t bias = 0;
  int32_t bias_type = -1;
  int32_t multiprocessors = 0;
  uint64_t auxiliary = 0;
  int64_t auxiliary_leading = 0;
  uint64_t a_scale = 0;
  uint64_t b_scale = 0;
  uint64_t d_scale = 0;
  uint64_t d_largest = 0;
  int32_t a_scale_mode = 0;
  int32_t b_scale_mode = 0;
  int8_t fast_sum = 0;
};
static_assert(sizeof(Operation) <= 184);  // 23 words in CUDA 12, 32 in CUDA 13

struct Layout {
  int32_t type = 0;  // cudaDataType
  int32_t batch = 1;
  uint64_t rows = 0;
  uint64_t columns = 0;
  int64_t leading = 0;
  int64_t batch_stride = 0;
};
static_assert(sizeof(Layout) <= 64);

// The one algorithm that there is fits every preference.
struct Preference {
  uint64_t workspace_bytes = 0;
  uint32_t reductions = 7;  // all
  uint32_t a_alignment = 256;
  uint32_t b_alignment = 256;
  uint32_t c_alignment = 256;
  uint32_t d_alignment = 256;
};
static_assert(sizeof(Preference) <= 64);

}  // namespace tandem::pretend
