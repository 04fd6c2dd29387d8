// SPDX-License-Identifier: Apache-2.0
#include "common/kernels/host/bare_product.h"

#include <oneapi/dnnl/dnnl.h>

namespace tandem::host {
namespace {

// A row-major matrix, read as its transpose where so marked.
struct Factor {
  Span<const float> elements;
  std::int64_t row_length;  // as stored
  char transposed = 'N';
};

void multiply(std::int64_t m, std::int64_t n, std::int64_t k, const Factor& a, const Factor& b,
              Span<float> product) {
  const dnnl_status_t status =
      dnnl_sgemm(a.transposed, b.transposed, m, n, k, 1.0F, a.elements.data(), a.row_length,
                 b.elements.data(), b.row_length, 0.0F, product.data(), n);
  if (status != dnnl_success) {
    fail(ErrorKind::kFailure, "sgemm of {} x {} x {} failed in oneDNN (status {})", m, n, k,
         static_cast<int>(status));
  }
}

}  // namespace

void bare_product(const LinearForward& op) {
  const auto& [batch, in, out] = op.shape;
  multiply(batch, out, in, {op.x.as<const float>(), in}, {op.weight.as<const float>(), in, 'T'},
           op.y.as<float>());
}

void bare_product(const LinearBackwardInput& op) {
  const auto& [batch, in, out] = op.shape;
  multiply(batch, in, out, {op.dy.as<const float>(), out}, {op.weight.as<const float>(), in},
           op.dx.as<float>());
}

void bare_product(const LinearBackwardWeight& op) {
  const auto& [batch, in, out] = op.shape;
  multiply(out, in, batch, {op.dy.as<const float>(), out, 'T'}, {op.x.as<const float>(), in},
           op.dweight);
}

}  // namespace tandem::host
