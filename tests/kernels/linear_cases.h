// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ostream>
#include <vector>

#include "common/kernels/operations.h"

namespace tandem {

// Shapes at and off the sizes that libraries have kernels for, each with numbers that round and
// with numbers that do not.
struct LinearCase {
  LinearShape shape;
  Distribution data = Distribution::kUniform;
};

inline void PrintTo(const LinearCase& c, std::ostream* out) {
  *out << c.shape.batch << "x" << c.shape.in << "->" << c.shape.out
       << (c.data == Distribution::kUniform ? " uniform" : " integers");
}

inline std::vector<LinearCase> linear_cases() {
  const LinearShape shapes[] = {{1, 1, 1},    {1, 16, 8},    {1, 1024, 3},   {2, 1, 5},   {3, 5, 7},
                                {17, 33, 65}, {64, 128, 32}, {63, 255, 101}, {256, 64, 1}};
  std::vector<LinearCase> all;
  for (const LinearShape& shape : shapes) {
    all.push_back({shape, Distribution::kUniform});
    all.push_back({shape, Distribution::kSmallIntegers});
  }
  return all;
}

}  // namespace tandem
