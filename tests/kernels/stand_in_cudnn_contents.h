// SPDX-License-Identifier: Apache-2.0
//
// What the stand-in for cuDNN knows of its descriptors.
#pragma once

#include <cstring>
#include <map>
#include <memory>
#include <vector>

#include "tests/kernels/stand_in_convolution.h"
#include "tests/kernels/stand_in_cudnn.h"

namespace tandem::test::stand_in {

// What was set in a descriptor. Others hold a copy of it from when they were given it.
struct Contents {
  struct Attribute {
    cudnnBackendAttributeType_t type;
    std::vector<std::byte> bytes{};
    std::vector<std::shared_ptr<const Contents>> others{};
  };

  cudnnBackendDescriptorType_t type;
  std::map<cudnnBackendAttributeName_t, Attribute> attributes{};
  bool finalized = false;
  CudnnEngine engine{};  // of an engine, a configuration, a plan

  [[nodiscard]] bool has(cudnnBackendAttributeName_t name) const {
    return attributes.contains(name);
  }
  template <class Value>
  [[nodiscard]] std::vector<Value> all(cudnnBackendAttributeName_t name) const {
    const auto found = attributes.find(name);
    if (found == attributes.end()) return {};
    std::vector<Value> values(found->second.bytes.size() / sizeof(Value));
    std::memcpy(values.data(), found->second.bytes.data(), values.size() * sizeof(Value));
    return values;
  }
  template <class Value>
  [[nodiscard]] Value one(cudnnBackendAttributeName_t name, Value other = {}) const {
    const auto values = all<Value>(name);
    return values.size() == 1 ? values.front() : other;
  }
  [[nodiscard]] const Contents* other(cudnnBackendAttributeName_t name) const {
    const auto found = attributes.find(name);
    if (found == attributes.end() || found->second.others.size() != 1) return nullptr;
    return found->second.others.front().get();
  }
};

// What finalising comes to: success, or the reason in words.
struct Finish {
  cudnnStatus_t status = CUDNN_STATUS_SUCCESS;
  const char* words = "";
};
[[nodiscard]] Finish finish(Contents& own);

// The one operation of a finalised graph, and its tensors in the order image, filter, result.
struct GraphConvolution {
  StridedConvolution convolution;
  std::array<const Contents*, 3> tensors;
};
[[nodiscard]] GraphConvolution convolution_in(const Contents& graph);

// Whether all its tensors are of one type: reading bf16 and writing fp32, or the reverse, no engine
// does.
[[nodiscard]] bool is_of_one_type(const GraphConvolution& operation);

}  // namespace tandem::test::stand_in
