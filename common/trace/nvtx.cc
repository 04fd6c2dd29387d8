// SPDX-License-Identifier: Apache-2.0
#include "common/trace/nvtx.h"

#include <nvtx3/nvToolsExt.h>
#include <nvtx3/nvToolsExtCuda.h>
#include <unistd.h>

namespace tandem::nvtx {
namespace {

nvtxDomainHandle_t domain(void* handle) { return static_cast<nvtxDomainHandle_t>(handle); }

nvtxEventAttributes_t attributes(Category category, Name name, std::int64_t payload) {
  nvtxEventAttributes_t attributes{};
  attributes.version = NVTX_VERSION;
  attributes.size = sizeof(attributes);
  attributes.category = static_cast<std::uint32_t>(category);
  attributes.payloadType = NVTX_PAYLOAD_TYPE_INT64;
  attributes.payload.llValue = payload;
  attributes.messageType = NVTX_MESSAGE_TYPE_REGISTERED;
  attributes.message.registered = static_cast<nvtxStringHandle_t>(name.handle);
  return attributes;
}

void name_category(void* handle, Category category, const char* name) {
  nvtxDomainNameCategoryA(domain(handle), static_cast<std::uint32_t>(category), name);
}

}  // namespace

Domain::Domain() : handle_(nvtxDomainCreateA("tandem")) {
  if (!is_watched()) return;
  name_category(handle_, Category::kHarness, "harness");
  name_category(handle_, Category::kPhase, "phase");
  name_category(handle_, Category::kBucket, "bucket");
  name_category(handle_, Category::kKernelGroup, "kernel group");
}

Domain::~Domain() {
  if (is_watched()) nvtxDomainDestroy(domain(handle_));
}

Name Domain::name(const std::string& text) const {
  return {nvtxDomainRegisterStringA(domain(handle_), text.c_str())};
}

void Domain::push(Category category, Name name, std::int64_t payload) const {
  const nvtxEventAttributes_t range = attributes(category, name, payload);
  nvtxDomainRangePushEx(domain(handle_), &range);
}

void Domain::pop() const { nvtxDomainRangePop(domain(handle_)); }

RangeId Domain::start(Category category, Name name, std::int64_t payload) const {
  const nvtxEventAttributes_t range = attributes(category, name, payload);
  return nvtxDomainRangeStartEx(domain(handle_), &range);
}

void Domain::end(RangeId range) const { nvtxDomainRangeEnd(domain(handle_), range); }

void Domain::name_this_thread(const std::string& name) const {
  nvtxNameOsThreadA(static_cast<std::uint32_t>(gettid()), name.c_str());
}

void Domain::name_cuda_stream(void* stream, const std::string& name) const {
  nvtxNameCuStreamA(static_cast<CUstream>(stream), name.c_str());
}

}  // namespace tandem::nvtx
