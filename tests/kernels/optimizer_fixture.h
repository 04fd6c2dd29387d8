// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tests/kernels/operations_fixture.h"

namespace tandem {

// For what holds of every optimizer.
class OptimizerFixture : public OperationsFixture {
 protected:
  template <class Optimizer>
  void expect_segments_equal_one_piece() {
    const Span<float> gradient = random(100);
    const Span<float> flat = random(100);
    const Span<float> front = copy_of(flat.subspan(0, 37));
    const Span<float> back = copy_of(flat.subspan(37, 63));
    Optimizer one(device(), 100);
    Optimizer other(device(), 100);
    for (int step = 0; step < 3; ++step) {
      one.step(operations(), stream(), flat, gradient);
      other.step(operations(), stream(), {front, back},
                 {gradient.subspan(0, 37), gradient.subspan(37, 63)});
    }
    stream().synchronize();
    expect_equal(front, flat.subspan(0, 37));
    expect_equal(back, flat.subspan(37, 63));
  }
};

}  // namespace tandem
