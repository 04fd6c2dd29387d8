// SPDX-License-Identifier: Apache-2.0
//
// Errors of the pretended runtime: the thread's last one, names and texts.
#include "pretend/cudart/last_error.h"

namespace tandem::pretend {
namespace {

thread_local abi::CudaError last = abi::kCudaSuccess;

struct Text {
  abi::CudaError error;
  const char* name;
  const char* text;
};

constexpr Text kTexts[] = {
    {abi::kCudaSuccess, "cudaSuccess", "no error"},
    {abi::kCudaInvalidValue, "cudaErrorInvalidValue", "invalid argument"},
    {abi::kCudaMemoryAllocation, "cudaErrorMemoryAllocation", "out of memory"},
    {abi::kCudaNoDevice, "cudaErrorNoDevice", "no CUDA-capable device is detected"},
    {abi::kCudaInvalidDevice, "cudaErrorInvalidDevice", "invalid device ordinal"},
    {abi::kCudaNoKernelImage, "cudaErrorNoKernelImageForDevice",
     "no kernel image is available for execution on the device"},
    {abi::kCudaInvalidResourceHandle, "cudaErrorInvalidResourceHandle", "invalid resource handle"},
    {abi::kCudaIllegalState, "cudaErrorIllegalState",
     "the operation cannot be performed in the present state"},
    {abi::kCudaSymbolNotFound, "cudaErrorSymbolNotFound", "named symbol not found"},
    {abi::kCudaNotReady, "cudaErrorNotReady", "device not ready"},
    {abi::kCudaNotSupported, "cudaErrorNotSupported", "operation not supported on pretended GPUs"},
    {abi::kCudaCaptureUnsupported, "cudaErrorStreamCaptureUnsupported",
     "operation not permitted when stream is capturing"},
    {abi::kCudaCaptureInvalidated, "cudaErrorStreamCaptureInvalidated",
     "operation failed due to a previous error during capture"},
    {abi::kCudaCaptureMerge, "cudaErrorStreamCaptureMerge",
     "operation would result in a merge of separate capture sequences"},
    {abi::kCudaCaptureUnmatched, "cudaErrorStreamCaptureUnmatched",
     "capture was not ended in the same stream as it began"},
    {abi::kCudaCaptureUnjoined, "cudaErrorStreamCaptureUnjoined",
     "capturing stream has unjoined work"},
    {abi::kCudaCaptureIsolation, "cudaErrorStreamCaptureIsolation",
     "dependency created on uncaptured work in another stream"},
    {abi::kCudaCaptureImplicit, "cudaErrorStreamCaptureImplicit",
     "operation would make the legacy stream depend on a capturing blocking stream"},
    {abi::kCudaCapturedEvent, "cudaErrorCapturedEvent",
     "operation not permitted on an event last recorded in a capturing stream"},
    {abi::kCudaCaptureWrongThread, "cudaErrorStreamCaptureWrongThread",
     "attempt to terminate a thread-local capture sequence from another thread"},
};

const Text* find(int error) {
  for (const Text& text : kTexts) {
    if (text.error == error) return &text;
  }
  return nullptr;
}

}  // namespace

abi::CudaError with_last_error(abi::CudaError error) {
  if (error != abi::kCudaSuccess) last = error;
  return error;
}

}  // namespace tandem::pretend

using namespace tandem::pretend;

extern "C" {

abi::CudaError cudaPeekAtLastError() { return last; }

abi::CudaError cudaGetLastError() {
  const abi::CudaError error = last;
  last = abi::kCudaSuccess;
  return error;
}

const char* cudaGetErrorName(abi::CudaError error) {
  const Text* const text = find(error);
  return text == nullptr ? "cudaErrorUnknown" : text->name;
}

const char* cudaGetErrorString(abi::CudaError error) {
  const Text* const text = find(error);
  return text == nullptr ? "unknown error" : text->text;
}
}
