// SPDX-License-Identifier: Apache-2.0
//
// Handles, versions and texts of the pretended cuDNN.
#include "pretend/cudnn/handle.h"

#include <cstdio>

#include "pretend/core/capture.h"
#include "pretend/core/device.h"
#include "pretend/core/log.h"
#include "pretend/core/put.h"
#include "pretend/core/read_back.h"
#include "pretend/core/settings.h"

namespace tandem::pretend {

std::string shape_of(const DnnTensor& tensor) {
  std::string text = "[";
  for (int axis = 0; axis < tensor.count; ++axis) {
    text += axis > 0 ? "," : "";
    text += std::to_string(tensor.dimensions[static_cast<size_t>(axis)]);
  }
  return text + "]";
}

int log_library(const char* call, const DnnHandle* handle, const char* operations,
                RecordKind kind) {
  if (capture::takes(handle->stream, capture::NodeType::kKernel, [=](const void* on) {
        const DnnHandle there{const_cast<void*>(on)};
        log_library(call, &there, operations, kind);
      })) {
    return 0;
  }
  log::Entry entry(call, kind);
  const Target target = entry.at(target_of(handle->stream));
  entry.text(operations);
  read_back::note_launch(target.device);
  return 0;
}

}  // namespace tandem::pretend

using namespace tandem::pretend;

extern "C" {

int cudnnCreate(DnnHandle** handle) { return put(handle, new DnnHandle); }

int cudnnDestroy(DnnHandle* handle) { return destroy(handle); }

int cudnnSetStream(DnnHandle* handle, void* stream) { return put(&handle->stream, stream); }

int cudnnGetStream(DnnHandle* handle, void** stream) { return put(stream, handle->stream); }

uint64_t cudnnGetVersion() { return static_cast<uint64_t>(settings().versions.dnn); }

uint64_t cudnnGetCudartVersion() { return static_cast<uint64_t>(settings().versions.runtime); }

// libraryPropertyType: 0 major, 1 minor, 2 patch level. 92600 is 9.26.0.
int cudnnGetProperty(int property, int* value) {
  const int version = settings().versions.dnn;
  *value = property == 0 ? version / 10'000 : property == 1 ? version / 100 % 100 : version % 100;
  return 0;
}

const char* cudnnGetErrorString(int status) {
  return status == 0 ? "CUDNN_STATUS_SUCCESS" : "not supported by Tandem's pretended cuDNN";
}

void cudnnGetLastErrorString(char* message, uint64_t room) {
  std::snprintf(message, room, "%s", "");
}
}
