// SPDX-License-Identifier: Apache-2.0
#include "common/kernels/host/bare_product.h"

#include <oneapi/dnnl/dnnl.h>

#include "common/base/error.h"

namespace tandem::host {

void sgemm(const MatrixProduct& p) {
  const dnnl_status_t status =
      dnnl_sgemm(p.a.transposed, p.b.transposed, p.m, p.n, p.k, p.alpha, p.a.first, p.a.row_length,
                 p.b.first, p.b.row_length, p.beta, p.product, p.row_length);
  if (status != dnnl_success) {
    fail(ErrorKind::kFailure, "sgemm of {} x {} x {} failed in oneDNN (status {})", p.m, p.n, p.k,
         static_cast<int>(status));
  }
}

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
