// SPDX-License-Identifier: Apache-2.0
#include "common/comm/nccl/nccl_communicator.h"
#include "common/comm/nccl_module.h"

namespace {

using tandem::nccl::load_api;

tandem::NcclProbe probe() {
  const tandem::nccl::LoadedApi& loaded = load_api();
  return {.usable = loaded.api != nullptr, .trouble = loaded.trouble, .version = loaded.version};
}

std::unique_ptr<tandem::Communicator> make_communicator(
    tandem::Bootstrap& bootstrap, tandem::Device& device,
    const tandem::CommunicatorOptions& options) {
  const tandem::nccl::LoadedApi& loaded = load_api();
  if (loaded.api == nullptr) {
    fail(tandem::ErrorKind::kUsage, "the transport nccl: {}", loaded.trouble);
  }
  return std::make_unique<tandem::nccl::NcclCommunicator>(
      *loaded.api, &tandem::nccl::scale_in_place, bootstrap, device, options);
}

void together(const std::vector<tandem::Communicator*>& ranks, const std::function<void()>& calls) {
  tandem::nccl::call_together(*load_api().api, ranks, calls);
}

constexpr tandem::NcclModule kNcclModule{tandem::kNcclModuleAbi, &probe, &make_communicator,
                                         &together};

}  // namespace

extern "C" __attribute__((visibility("default"))) const tandem::NcclModule* tandem_nccl_module() {
  return &kNcclModule;
}
