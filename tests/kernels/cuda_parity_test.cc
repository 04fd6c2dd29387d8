// SPDX-License-Identifier: Apache-2.0
//
// Parity on a real GPU, through the module as programs load it; skipped, with the reason, where
// there is none.
#include "common/runtime/registry.h"
#include "tests/kernels/cuda_elementwise_parity.h"
#include "tests/kernels/cuda_image_parity.h"
#include "tests/kernels/cuda_product_parity.h"
#include "tests/kernels/cuda_transformer_parity.h"

namespace tandem::test {
namespace {

struct CudaBackend {
  static constexpr LinearShape kLarge{.batch = 2048, .in = 4096, .out = 500};

  static std::unique_ptr<Platform> open(const PlatformOptions& options, std::string& unusable) {
    const BackendFacts facts = probe_backends(BackendChoice::kCuda, options);
    if (facts.cuda.state == CudaState::kUsable) return open_platform(Backend::kCuda, options);
    unusable = facts.cuda.detail;
    return nullptr;
  }
  static std::unique_ptr<Operations> make(Device& device, Precision precision,
                                          const ImageOptions& images) {
    return make_operations(device, precision, images);
  }
  static std::string lack_of_images() { return tandem::lack_of_images(Backend::kCuda); }
};
INSTANTIATE_TYPED_TEST_SUITE_P(Cuda, CudaElementwiseParity, CudaBackend);
INSTANTIATE_TYPED_TEST_SUITE_P(Cuda, CudaProductParity, CudaBackend);
INSTANTIATE_TYPED_TEST_SUITE_P(Cuda, CudaTransformerParity, CudaBackend);
INSTANTIATE_TYPED_TEST_SUITE_P(Cuda, CudaImageParity, CudaBackend);

}  // namespace
}  // namespace tandem::test
