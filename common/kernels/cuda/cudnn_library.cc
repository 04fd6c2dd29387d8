// SPDX-License-Identifier: Apache-2.0
//
// Apart from the rest, so that the tests put a stand-in in its place.
#include "common/kernels/cuda/cudnn_graph.h"

namespace tandem::cuda {

const LoadedCudnn& load_cudnn() {
  // Never destroyed: other threads may be inside cuDNN while the process ends.
  static CudnnApi* const api = new CudnnApi;
  static const auto* const loaded = new LoadedCudnn(load_cudnn_from("libcudnn.so.9", *api));
  return *loaded;
}

}  // namespace tandem::cuda
