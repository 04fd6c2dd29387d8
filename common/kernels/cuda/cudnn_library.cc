// SPDX-License-Identifier: Apache-2.0
//
// Apart from the rest, so that the tests put a stand-in in its place.
#include "common/kernels/cuda/cudnn_graph.h"

namespace tandem::cuda {
namespace {

struct ThisProcess {
  CudnnApi api;
  LoadedCudnn loaded = load_cudnn_from("libcudnn.so.9", api);
};

}  // namespace

const LoadedCudnn& load_cudnn() {
  // Never destroyed: other threads may be inside cuDNN while the process ends.
  static const ThisProcess* const process = new ThisProcess;
  return process->loaded;
}

}  // namespace tandem::cuda
