// SPDX-License-Identifier: Apache-2.0
//
// A driver without a GPU, for cuDNN alone: it makes no plan of an engine that it compiles until it
// has found these functions and loaded the kernel. Whatever else they are asked for is not there.
// They take arguments that nobody reads, as the conventions of x86-64 and AArch64 allow.
#define TANDEM_ANSWER(name, ...) extern "C" [[gnu::visibility("default")]] int name(__VA_ARGS__)

namespace {

int found(const void** handle) {
  static const int anything = 0;
  *handle = &anything;
  return 0;
}

}  // namespace

TANDEM_ANSWER(cuLibraryLoadData, const void** handle) { return found(handle); }
TANDEM_ANSWER(cuLibraryGetKernel, const void** handle) { return found(handle); }

#define TANDEM_REFUSAL(name) \
  TANDEM_ANSWER(name) { return 100; }  // CUDA_ERROR_NO_DEVICE
TANDEM_REFUSAL(cuCtxGetCurrent)
TANDEM_REFUSAL(cuCtxGetLimit)
TANDEM_REFUSAL(cuCtxPopCurrent)
TANDEM_REFUSAL(cuCtxPushCurrent)
TANDEM_REFUSAL(cuDeviceGet)
TANDEM_REFUSAL(cuDeviceGetCount)
TANDEM_REFUSAL(cuDriverGetVersion)
TANDEM_REFUSAL(cuGetErrorName)
TANDEM_REFUSAL(cuGetErrorString)
TANDEM_REFUSAL(cuInit)
TANDEM_REFUSAL(cuKernelGetAttribute)
TANDEM_REFUSAL(cuKernelSetAttribute)
TANDEM_REFUSAL(cuLaunchCooperativeKernel)
TANDEM_REFUSAL(cuLaunchKernel)
TANDEM_REFUSAL(cuLaunchKernelEx)
TANDEM_REFUSAL(cuLibraryLoadFromFile)
TANDEM_REFUSAL(cuLibraryUnload)
TANDEM_REFUSAL(cuLinkAddData)
TANDEM_REFUSAL(cuLinkComplete)
TANDEM_REFUSAL(cuLinkCreate)
TANDEM_REFUSAL(cuLinkDestroy)
TANDEM_REFUSAL(cuOccupancyMaxPotentialClusterSize)
TANDEM_REFUSAL(cuStreamGetCtx)
