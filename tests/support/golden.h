// SPDX-License-Identifier: Apache-2.0
//
// Reads what PyTorch made of a small model (tests/golden/README.md has the format), so that tests
// hold Tandem's models against it.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "common/tensor/shape.h"

namespace tandem::test {

struct GoldenTensor {
  Shape shape;
  std::int64_t extent = 0;          // elements from here on are zeros, which no file keeps
  std::int64_t stride = 1;          // those below it that are kept: 0, stride, 2 stride, ...
  std::vector<float> kept{};        // in that order
  std::int64_t left_out_first = 0;  // elements that no comparison looks at
  std::int64_t left_out_count = 0;

  // All elements. A logic error where the file has not all of them.
  [[nodiscard]] std::vector<float> all() const;

  // |found - this| / |this|, as vectors of the elements that are compared; where this is zero,
  // |found|. Infinite where a value is not finite. A logic error where sizes differ.
  [[nodiscard]] double distance(const std::vector<float>& found) const;
};

struct Golden {
  std::string model;  // as make_model takes it
  std::string torch;  // the version that made it
  std::int64_t batch = 0;
  int steps = 0;                                                      // of each optimizer
  std::map<std::string, std::map<std::string, double>> optimizers{};  // options by torch's names
  std::map<std::string, GoldenTensor> tensors{};

  [[nodiscard]] const GoldenTensor& tensor(const std::string& name) const;
};

// tests/golden/NAME.json and NAME.bin, beside the test programs.
[[nodiscard]] Golden read_golden(const std::string& name);

}  // namespace tandem::test
