// SPDX-License-Identifier: Apache-2.0
//
// The contract on real GPUs, through the module as programs load it; skipped, with the reason,
// where there are none. Lost GPUs are shown on a stand-in (cuda_stand_in_test.cc): to lose a real
// one takes a kernel that faults.
#include "common/runtime/registry.h"
#include "tests/runtime/runtime_contract.h"

namespace tandem::test {
namespace {

struct CudaBackend {
  static std::unique_ptr<Platform> open(const PlatformOptions& options, std::string& unusable) {
    const BackendFacts facts = probe_backends(BackendChoice::kCuda, options);
    if (facts.cuda.state == CudaState::kUsable) return open_platform(Backend::kCuda, options);
    unusable = facts.cuda.detail;
    return nullptr;
  }
};
INSTANTIATE_TYPED_TEST_SUITE_P(Cuda, RuntimeContract, CudaBackend);
INSTANTIATE_TYPED_TEST_SUITE_P(Cuda, RuntimeContractOfData, CudaBackend);

}  // namespace
}  // namespace tandem::test
