// SPDX-License-Identifier: Apache-2.0
#include "common/kernels/host/sgemm.h"

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

}  // namespace tandem::host
