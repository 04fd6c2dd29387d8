// SPDX-License-Identifier: Apache-2.0
//
// Images lie as in convolution.h.
#pragma once

#include "common/kernels/image_shapes.h"
#include "common/kernels/operands.h"

namespace tandem {

// These throw a logic error where a size is not positive.
void check(const MaxPoolShape& shape);
void check(const AveragePoolShape& shape);

// The largest number of each window; padding is never the largest, NaN is.
struct MaxPoolForward {
  MaxPoolShape shape;
  ConstAnySpan x;  // (batch, height, width, channels)
  AnySpan y;       // (batch, out height, out width, channels)

  [[nodiscard]] std::vector<Access> accesses() const {
    check(shape);
    return checked({{"x", x, shape.input_count()}, {"y", y, shape.output_count()}}, x.dtype());
  }
};

// The gradient of a window, dy + dabove, goes to the window's first element in order of rows and
// columns that equals y; gradients of several windows for one element are added. The gradient of a
// window whose y is NaN is dropped.
struct MaxPoolBackward {
  MaxPoolShape shape;
  ConstAnySpan x;         // forward's
  ConstAnySpan y;         // forward's result
  ConstAnySpan dy;        // as y
  ConstAnySpan dabove{};  // as y, or empty: nothing is added
  AnySpan dx{};           // as x

  [[nodiscard]] std::vector<Access> accesses() const {
    check(shape);
    const std::int64_t out = shape.output_count();
    return checked({{"x", x, shape.input_count()},
                    {"y", y, out},
                    {"dy", dy, out},
                    {"dabove", dabove, unless_empty(dabove, out)},
                    {"dx", dx, shape.input_count()}},
                   x.dtype());
  }
};

// y = the mean of x over all positions.
struct AveragePoolForward {
  AveragePoolShape shape;
  ConstAnySpan x;  // (batch, positions, channels)
  AnySpan y;       // (batch, channels)

  [[nodiscard]] std::vector<Access> accesses() const {
    check(shape);
    const auto& [batch, positions, channels] = shape;
    return checked({{"x", x, batch * positions * channels}, {"y", y, batch * channels}}, x.dtype());
  }
};

// dx = dy / positions, at each position.
struct AveragePoolBackward {
  AveragePoolShape shape;
  ConstAnySpan dy;  // (batch, channels)
  AnySpan dx;       // (batch, positions, channels)

  [[nodiscard]] std::vector<Access> accesses() const {
    check(shape);
    const auto& [batch, positions, channels] = shape;
    return checked({{"dy", dy, batch * channels}, {"dx", dx, batch * positions * channels}},
                   dy.dtype());
  }
};

namespace host {

void run(const MaxPoolForward& op);
[[nodiscard]] Bytes scratch_size(const MaxPoolBackward& op);
void run(const MaxPoolBackward& op, std::byte* scratch);
[[nodiscard]] Bytes scratch_size(const AveragePoolForward& op);
void run(const AveragePoolForward& op, std::byte* scratch);
void run(const AveragePoolBackward& op);

}  // namespace host

}  // namespace tandem
