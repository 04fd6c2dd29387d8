// SPDX-License-Identifier: Apache-2.0
//
// Handles and legacy descriptors of the pretended cuDNN.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "pretend/core/record.h"

namespace tandem::pretend {

struct DnnHandle {
  void* stream = nullptr;
};

// Tensors and filters return, and the log shows, what was set.
struct DnnTensor {
  static constexpr int kMostDimensions = 8;  // CUDNN_DIM_MAX
  int type = 0;
  int format = 0;
  int count = 0;
  std::array<int, kMostDimensions> dimensions{};
  std::array<int, kMostDimensions> strides{};
};

struct DnnRnn {
  int cell = 0;
  int bias = 0;
  int bidirectional = 0;
  int skip_input = 0;
  int type = 0;
  int input = 0;
  int hidden = 0;
  int projection = 0;
  int layers = 0;
};

struct DnnRnnData {
  int type = 0;
  int steps = 0;
  int batch = 0;
  int vector = 0;
};

// "[2,3,8,8]"
[[nodiscard]] std::string shape_of(const DnnTensor& tensor);

// Logs a call that computes on the handle's stream; `operations` is JSON or nullptr.
int log_library(const char* call, const DnnHandle* handle, const char* operations = nullptr,
                RecordKind kind = RecordKind::kLibrary);

}  // namespace tandem::pretend
