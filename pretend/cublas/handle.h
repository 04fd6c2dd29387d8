// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "pretend/core/capture.h"
#include "pretend/core/device.h"
#include "pretend/core/log.h"
#include "pretend/core/read_back.h"

namespace tandem::pretend {

struct BlasHandle {
  void* stream = nullptr;
  int pointer_mode = 0;
  int math_mode = 0;
  int atomics_mode = 0;
};

// A product of matrices: C is m by n, what is summed over has length k.
struct Product {
  int64_t m = 0;
  int64_t n = 0;
  int64_t k = 0;
  int64_t batch = 1;
  ElementType type = ElementType::kF32;
  int a = 0;  // cublasOperation_t: 0 as it lies, else transposed
  int b = 0;
};

inline int log_product(const char* call, const void* stream, const Product& product) {
  if (capture::takes(stream, capture::NodeType::kKernel,
                     [=](const void* on) { log_product(call, on, product); })) {
    return 0;
  }
  log::Entry entry(call, RecordKind::kProduct);
  const Target target = entry.at(target_of(stream));
  entry.set(product.m, product.n, product.k, product.batch, product.type,
            (product.a != 0 ? 2 : 0) | (product.b != 0 ? 1 : 0));
  read_back::note_launch(target.device);
  return 0;
}

}  // namespace tandem::pretend
