// SPDX-License-Identifier: Apache-2.0
//
// NCCL's entry of the stand-in for the CUDA module: ranks are threads of one process.
#include "common/comm/nccl/nccl_communicator.h"
#include "common/comm/nccl_module.h"
#include "tests/comm/fake_nccl.h"

namespace {

namespace fake_nccl = tandem::test::fake_nccl;

// 2.30 takes several ranks on one GPU where its variable is set.
tandem::NcclProbe probe() {
  return {.usable = true, .trouble = "", .version = "2.30.0 (stand-in)"};
}

std::unique_ptr<tandem::Communicator> make_communicator(
    tandem::Bootstrap& bootstrap, tandem::Device& device,
    const tandem::CommunicatorOptions& options) {
  return std::make_unique<tandem::nccl::NcclCommunicator>(fake_nccl::api(), &fake_nccl::scale,
                                                          bootstrap, device, options);
}

void together(const std::vector<tandem::Communicator*>& ranks, const std::function<void()>& calls) {
  tandem::nccl::call_together(fake_nccl::api(), ranks, calls);
}

constexpr tandem::NcclModule kStandInModule{tandem::kNcclModuleAbi, &probe, &make_communicator,
                                            &together};

}  // namespace

extern "C" __attribute__((visibility("default"))) const tandem::NcclModule* tandem_nccl_module() {
  return &kStandInModule;
}
