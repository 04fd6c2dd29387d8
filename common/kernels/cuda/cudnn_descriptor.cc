// SPDX-License-Identifier: Apache-2.0
#include "common/kernels/cuda/cudnn_descriptor.h"

#include <fmt/format.h>

#include <array>

namespace tandem::cuda {

namespace {

constexpr const char* kAdvice =
    "install cuDNN 9 for the toolkit's CUDA, or add its folder to LD_LIBRARY_PATH";

constexpr std::size_t kOldestVersion = 90000;  // the header's functions and statuses are of 9

std::string version_text(std::size_t version) {  // 91900 is 9.19.0
  return fmt::format("{}.{}.{}", version / 10000, version % 10000 / 100, version % 100);
}

// "CUDNN_STATUS_NOT_SUPPORTED (what it objects to)", in one line.
std::string words_of(const CudnnApi& api, cudnnStatus_t status) {
  std::array<char, 512> details{};
  api.get_last_error(details.data(), details.size() - 1);
  std::string text = details.data();
  for (char& c : text) c = c == '\n' ? ' ' : c;
  return text.empty() ? api.get_error_string(status)
                      : fmt::format("{} ({})", api.get_error_string(status), text);
}

}  // namespace

LoadedCudnn load_cudnn_from(const char* file, CudnnApi& api) {
  Library library(file);
#define TANDEM_FIND(place, name) library.find(api.place, #name);
  TANDEM_EACH_CUDNN_CALL(TANDEM_FIND)
#undef TANDEM_FIND
  if (!library.trouble().empty()) {
    return {nullptr, fmt::format("{}: {}", library.trouble(), kAdvice), ""};
  }
  const std::size_t version = api.get_version();
  if (version < kOldestVersion) {
    return {nullptr, fmt::format("{} is of version {}: {}", file, version_text(version), kAdvice),
            ""};
  }
  return {&api, "", version_text(version)};
}

CudnnError::CudnnError(const CudnnApi& api, cudnnStatus_t status, const char* call)
    : Error(status == CUDNN_STATUS_INTERNAL_ERROR_DEVICE_ALLOCATION_FAILED ? ErrorKind::kOutOfMemory
                                                                           : ErrorKind::kFailure,
            fmt::format("{}: {}", call, words_of(api, status))) {}

void check_cudnn(const CudnnApi& api, cudnnStatus_t status, const char* call) {
  if (status != CUDNN_STATUS_SUCCESS) throw CudnnError(api, status, call);
}

CudnnDescriptor::CudnnDescriptor(const CudnnApi& api, cudnnBackendDescriptorType_t type)
    : api_(api) {
  check_cudnn(api_, api_.create_descriptor(type, &descriptor_), "cudnnBackendCreateDescriptor");
}

CudnnDescriptor::~CudnnDescriptor() {
  if (descriptor_ != nullptr) static_cast<void>(api_.destroy_descriptor(descriptor_));
}

void CudnnDescriptor::set(cudnnBackendAttributeName_t name,
                          const std::vector<CudnnDescriptor>& others) {
  std::vector<cudnnBackendDescriptor_t> raw;
  raw.reserve(others.size());
  for (const CudnnDescriptor& other : others) raw.push_back(other.raw());
  set(name, CUDNN_TYPE_BACKEND_DESCRIPTOR, static_cast<std::int64_t>(raw.size()), raw.data());
}

void CudnnDescriptor::set(cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type,
                          std::int64_t count, const void* values) {
  check_cudnn(api_, api_.set_attribute(descriptor_, name, type, count, values),
              "cudnnBackendSetAttribute");
}

void CudnnDescriptor::finalize() {
  check_cudnn(api_, api_.finalize(descriptor_), "cudnnBackendFinalize");
}

std::int64_t CudnnDescriptor::get(cudnnBackendAttributeName_t name,
                                  cudnnBackendAttributeType_t type, std::int64_t most,
                                  void* values) const {
  std::int64_t found = 0;
  check_cudnn(api_, api_.get_attribute(descriptor_, name, type, most, &found, values),
              "cudnnBackendGetAttribute");
  return found;
}

// cuDNN fills descriptors that the caller makes.
std::vector<CudnnDescriptor> CudnnDescriptor::get(cudnnBackendAttributeName_t name,
                                                  cudnnBackendDescriptorType_t type,
                                                  std::int64_t most) const {
  std::vector<CudnnDescriptor> all;
  std::vector<cudnnBackendDescriptor_t> raw;
  for (std::int64_t i = 0; i < most; ++i) raw.push_back(all.emplace_back(api_, type).raw());
  const std::int64_t found = get(name, CUDNN_TYPE_BACKEND_DESCRIPTOR, most, raw.data());
  while (static_cast<std::int64_t>(all.size()) > std::min(most, found)) all.pop_back();
  return all;
}

}  // namespace tandem::cuda
