// SPDX-License-Identifier: Apache-2.0
#include "common/kernels/cuda/cudnn_session.h"

#include "common/runtime/cuda/device_guard.h"

namespace tandem::cuda {

CudnnSession::CudnnSession(Gpu& gpu, const CudnnApi& api) : gpu_(gpu), api_(api) {
  const DeviceGuard here(gpu_.ordinal());
  const cudnnStatus_t status = api_.create(&handle_);
  if (status == CUDNN_STATUS_SUCCESS) return;
  static_cast<void>(cudaGetLastError());
  const CudnnError error(api_, status, "cudnnCreate");
  fail(error.kind(), "on GPU {} ({}): {}", gpu_.ordinal(), gpu_.name(), error.what());
}

CudnnSession::~CudnnSession() {
  const DeviceGuard here(gpu_.ordinal(), std::nothrow);
  static_cast<void>(api_.destroy(handle_));
}

void CudnnSession::give_up(const CudnnError& error, const std::string& what) {
  static_cast<void>(cudaGetLastError());
  gpu_.look();
  if (gpu_.failed()) return;  // the work is dropped; the stream's next wait says why
  fail(error.kind(), "{} on GPU {}: {}", what, gpu_.ordinal(), error.what());
}

}  // namespace tandem::cuda
