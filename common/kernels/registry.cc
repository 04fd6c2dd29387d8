// SPDX-License-Identifier: Apache-2.0
#include <atomic>

#include "common/kernels/cuda_kernels_module.h"
#include "common/kernels/host/host_operations.h"
#include "common/kernels/host_support.h"
#include "common/kernels/operations.h"
#include "common/kernels/simulated_kernels.h"

namespace tandem {
namespace {

std::atomic<const SimulatedKernels*> simulated_kernels{nullptr};

const SimulatedKernels& of_simulation() {
  const SimulatedKernels* const kernels = simulated_kernels;
  TANDEM_CHECK(kernels != nullptr, "kernels of a simulation that is not registered");
  return *kernels;
}

std::string lack_of_images_on_cuda() {
  try {
    return cuda_kernels_module().lack_of_images();
  } catch (const Error&) {
    return "";  // opening the back end reports the reason
  }
}

}  // namespace

void register_simulated_kernels(const SimulatedKernels& kernels) { simulated_kernels = &kernels; }

bool takes_listed_kernels(Device& device) {
  return device.id().backend == Backend::kSimulated && of_simulation().takes_listed(device);
}

void enqueue_listed(Stream& stream, const ListedKernel& kernel) {
  of_simulation().enqueue_listed(stream, kernel);
}

void check_host_has(Precision precision) {
  switch (precision) {
    case Precision::kFp32:
      return;
    case Precision::kTf32:
      fail(ErrorKind::kUsage,
           "--precision=tf32: a format of GPUs, which the host back end does not have: use fp32 or "
           "bf16, or --backend=cuda");
    case Precision::kBf16:
      if (host_bf16_support() != Bf16Support::kNone) return;
      fail(ErrorKind::kUsage,
           "--precision=bf16: {} has no bf16 products for this CPU, which would need AVX-512: use "
           "--precision=fp32",
           kernel_library_version());
  }
  fail(ErrorKind::kLogic, "no such precision");
}

std::unique_ptr<Operations> make_operations(Device& device, Precision precision,
                                            const ImageOptions& images) {
  switch (device.id().backend) {
    case Backend::kHost:
      check_host_has(precision);
      return std::make_unique<host::HostOperations>(device);
    case Backend::kCuda:
      return cuda_kernels_module().make_operations(device, precision, images);
    case Backend::kSimulated:
      return of_simulation().make_operations(device, precision, images);
  }
  fail(ErrorKind::kLogic, "no such back end");
}

std::string lack_of_images(Backend backend) {
  switch (backend) {
    case Backend::kHost:
      return "";
    case Backend::kCuda:
      return lack_of_images_on_cuda();
    case Backend::kSimulated:
      return "";
  }
  fail(ErrorKind::kLogic, "no such back end");
}

std::string kernel_library_version(Backend backend) {
  switch (backend) {
    case Backend::kHost:
      return kernel_library_version();
    case Backend::kCuda:
      return cuda_kernels_module().library_version();
    case Backend::kSimulated:
      return "none: operations are simulated";
  }
  fail(ErrorKind::kLogic, "no such back end");
}

}  // namespace tandem
