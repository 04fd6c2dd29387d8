// SPDX-License-Identifier: Apache-2.0
//
// Activations are channels-last, (batch, height, width, channels), as written here; but of a GPU's
// that were not made so (ImageOptions) all images, rows of normalisations and weights lie channels
// first: (batch, channels, height, width), (out, in, kernel, kernel). Where an operand's type is
// open, the type is that in which the convolutions compute (fp32 or bf16); statistics, and
// parameters of normalisations, are fp32, as under torch.autocast.
#pragma once

#include "common/kernels/image_shapes.h"
#include "common/kernels/operands.h"

namespace tandem {

// Throws a logic error where a size is not positive, or no window fits.
void check(const ConvolutionShape& shape);

// y[b][p][q][o] = sum over r, s, i of x[b][p stride + r - padding][q stride + s - padding][i] *
// weight[o][r][s][i], x being 0 outside; no bias.
struct ConvolutionForward {
  ConvolutionShape shape;
  ConstAnySpan x;       // (batch, height, width, in)
  ConstAnySpan weight;  // (out, kernel, kernel, in)
  AnySpan y;            // (batch, out height, out width, out)

  [[nodiscard]] std::vector<Access> accesses() const {
    check(shape);
    return checked({{"x", x, shape.input_count()},
                    {"weight", weight, shape.weight_count()},
                    {"y", y, shape.output_count()}},
                   x.dtype());
  }
};

struct ConvolutionBackwardInput {
  ConvolutionShape shape;
  ConstAnySpan dy;      // as forward's y
  ConstAnySpan weight;  // as forward's
  AnySpan dx;           // as forward's x

  [[nodiscard]] std::vector<Access> accesses() const {
    check(shape);
    return checked({{"dy", dy, shape.output_count()},
                    {"weight", weight, shape.weight_count()},
                    {"dx", dx, shape.input_count()}},
                   dy.dtype());
  }
};

// Overwrites dweight, never accumulates. dweight is fp32 whatever x and dy are.
struct ConvolutionBackwardWeight {
  ConvolutionShape shape;
  ConstAnySpan x;       // as forward's
  ConstAnySpan dy;      // as forward's y
  Span<float> dweight;  // as forward's weight

  [[nodiscard]] std::vector<Access> accesses() const {
    check(shape);
    return checked({{"x", x, shape.input_count()},
                    {"dy", dy, shape.output_count()},
                    {"dweight", dweight, shape.weight_count()}},
                   x.dtype());
  }
};

}  // namespace tandem
