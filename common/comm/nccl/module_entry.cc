// SPDX-License-Identifier: Apache-2.0
#include "common/comm/nccl/nccl_communicator.h"
#include "common/comm/nccl/scale_kernel.h"
#include "common/comm/nccl_module.h"
#include "common/runtime/cuda/check.h"

namespace {

using tandem::nccl::load_api;

cudaError_t launch_scale(tandem::AnySpan values, float factor, cudaStream_t stream) {
  const auto scale = [&]<class T>(T) {
    return tandem::nccl::scale(values.as<T>().data(), values.size(), factor, stream);
  };
  switch (values.dtype()) {
    case tandem::DType::kFloat32:
      return scale(float{});
    case tandem::DType::kBFloat16:
      return scale(tandem::BFloat16{});
    case tandem::DType::kFloat16:
      return scale(tandem::Float16{});
  }
  return cudaErrorInvalidValue;
}

void scale_in_place(tandem::cuda::CudaStream& stream, tandem::AnySpan values, float factor) {
  const tandem::cuda::DeviceGuard here(stream.gpu().ordinal());
  stream.gpu().after_enqueue(launch_scale(values, factor, stream.get()), "scale");
}

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
  return std::make_unique<tandem::nccl::NcclCommunicator>(*loaded.api, &scale_in_place, bootstrap,
                                                          device, options);
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
