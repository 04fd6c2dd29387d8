// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "common/optim/optimizer.h"
#include "tests/kernels/operations_fixture.h"

namespace tandem {

// For what holds of every optimizer.
class OptimizerFixture : public OperationsFixture {
 protected:
  void expect_segments_equal_one_piece(OptimizerKind kind) {
    const Span<float> gradient = random(100);
    const Span<float> flat = random(100);
    const Span<float> front = copy_of(flat.subspan(0, 37));
    const Span<float> back = copy_of(flat.subspan(37, 63));
    const auto one = make_optimizer(device(), 100, {.kind = kind});
    const auto other = make_optimizer(device(), 100, {.kind = kind});
    for (int step = 0; step < 3; ++step) {
      one->step(operations(), stream(), flat, gradient);
      other->step(operations(), stream(), {front, back},
                  {gradient.subspan(0, 37), gradient.subspan(37, 63)});
    }
    stream().synchronize();
    expect_equal(front, flat.subspan(0, 37));
    expect_equal(back, flat.subspan(37, 63));
  }
};

}  // namespace tandem
