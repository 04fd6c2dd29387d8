// SPDX-License-Identifier: Apache-2.0
#include "common/kernels/host/bare_product.h"

#include "common/kernels/host/sgemm.h"

namespace tandem::host {
namespace {

const float* floats(ConstAnySpan operand) { return operand.as<const float>().data(); }

}  // namespace

void bare_product(const LinearForward& op) {
  const auto& [batch, in, out] = op.shape;
  sgemm({.m = batch,
         .n = out,
         .k = in,
         .a = {floats(op.x), in},
         .b = {floats(op.weight), in, 'T'},
         .product = op.y.as<float>().data(),
         .row_length = out});
}

void bare_product(const LinearBackwardInput& op) {
  const auto& [batch, in, out] = op.shape;
  sgemm({.m = batch,
         .n = in,
         .k = out,
         .a = {floats(op.dy), out},
         .b = {floats(op.weight), in},
         .product = op.dx.as<float>().data(),
         .row_length = in});
}

void bare_product(const LinearBackwardWeight& op) {
  const auto& [batch, in, out] = op.shape;
  sgemm({.m = out,
         .n = in,
         .k = batch,
         .a = {floats(op.dy), out, 'T'},
         .b = {floats(op.x), in},
         .product = op.dweight.data(),
         .row_length = in});
}

}  // namespace tandem::host
