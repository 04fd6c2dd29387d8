// SPDX-License-Identifier: Apache-2.0
//
// What a profiler is to NVTX, as a library for NVTX_INJECTION64_PATH: every range of the domain
// "tandem" as a line of JSON in the file NVTX_RECORD_FOLDER/<process id>.jsonl, in the order of the
// calls, and names of threads and CUDA streams. What CUDA's libraries mark in domains of theirs is
// left out.
#define NVTX_NO_IMPL
#include <nvtx3/nvToolsExt.h>
#include <nvtx3/nvToolsExtCuda.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <mutex>
#include <string>

#include "common/base/units.h"

namespace {

struct Recorder {
  std::mutex mutex;
  std::ofstream file;
  std::atomic<nvtxRangeId_t> ranges{0};
};

// Lives as long as threads may call.
Recorder& recorder() {
  static auto* const recorder = [] {
    auto* const made = new Recorder;
    const char* const folder = std::getenv("NVTX_RECORD_FOLDER");
    made->file.open(std::string(folder == nullptr ? "." : folder) + "/" + std::to_string(getpid()) +
                    ".jsonl");
    return made;
  }();
  return *recorder;
}

void write(const char* event, const std::string& fields) {
  Recorder& to = recorder();
  const std::lock_guard lock(to.mutex);
  const auto now = tandem::Clock::now().time_since_epoch();
  to.file << "{\"event\": \"" << event << "\", \"thread\": " << gettid()
          << ", \"at\": " << tandem::Nanoseconds(now).count() << fields << "}" << std::endl;
}

// Texts are plain names: nothing in them needs escaping. A domain and a registered string are
// handles of ours: the texts themselves. The default domain is null.
std::string field(const char* name, const void* text) {
  return std::string(", \"") + name + "\": \"" + static_cast<const char*>(text) + "\"";
}
std::string field(const char* name, long long value) {
  return std::string(", \"") + name + "\": " + std::to_string(value);
}

void* keep(const char* text) { return new std::string(text); }
const char* text_of(const void* handle) { return static_cast<const std::string*>(handle)->c_str(); }

bool is_ours(nvtxDomainHandle_t domain) {
  return domain != nullptr && std::string("tandem") == text_of(domain);
}

std::string range(const nvtxEventAttributes_t& range) {
  const bool registered = range.messageType == NVTX_MESSAGE_TYPE_REGISTERED;
  const void* const name = registered ? text_of(range.message.registered) : range.message.ascii;
  const bool whole = range.payloadType == NVTX_PAYLOAD_TYPE_INT64;
  return field("name", name) + field("registered", registered ? 1 : 0) +
         field("category", range.category) +
         (whole ? field("payload", static_cast<long long>(range.payload.llValue)) : "");
}

void NVTX_API name_thread(uint32_t thread, const char* name) {
  write("name_thread", field("named", thread) + field("name", name));
}

void NVTX_API name_stream(CUstream /*stream*/, const char* name) {
  write("name_stream", field("name", name));
}

nvtxDomainHandle_t NVTX_API create_domain(const char* name) {
  const auto domain = static_cast<nvtxDomainHandle_t>(keep(name));
  if (is_ours(domain)) write("domain", field("name", name));
  return domain;
}

nvtxStringHandle_t NVTX_API register_string(nvtxDomainHandle_t, const char* text) {
  return static_cast<nvtxStringHandle_t>(keep(text));
}

void NVTX_API name_category(nvtxDomainHandle_t domain, uint32_t category, const char* name) {
  if (!is_ours(domain)) return;
  write("category",
        field("domain", text_of(domain)) + field("category", category) + field("name", name));
}

int NVTX_API push(nvtxDomainHandle_t domain, const nvtxEventAttributes_t* attributes) {
  if (!is_ours(domain)) return NVTX_NO_PUSH_POP_TRACKING;
  write("push", field("domain", text_of(domain)) + range(*attributes));
  return 0;
}

int NVTX_API pop(nvtxDomainHandle_t domain) {
  if (!is_ours(domain)) return NVTX_NO_PUSH_POP_TRACKING;
  write("pop", field("domain", text_of(domain)));
  return 0;
}

nvtxRangeId_t NVTX_API start(nvtxDomainHandle_t domain, const nvtxEventAttributes_t* attributes) {
  if (!is_ours(domain)) return 0;
  const nvtxRangeId_t id = ++recorder().ranges;
  write("start", field("domain", text_of(domain)) + range(*attributes) +
                     field("id", static_cast<long long>(id)));
  return id;
}

void NVTX_API end(nvtxDomainHandle_t domain, nvtxRangeId_t id) {
  if (!is_ours(domain)) return;
  write("end", field("domain", text_of(domain)) + field("id", static_cast<long long>(id)));
}

template <class Function>
void take(NvtxFunctionTable table, unsigned size, unsigned id, Function* function) {
  if (id < size) *table[id] = reinterpret_cast<NvtxFunctionPointer>(function);
}

}  // namespace

extern "C" __attribute__((visibility("default"))) int InitializeInjectionNvtx2(
    NvtxGetExportTableFunc_t get) {
  const auto* const callbacks =
      static_cast<const NvtxExportTableCallbacks*>(get(NVTX_ETID_CALLBACKS));
  if (callbacks == nullptr) return 0;
  NvtxFunctionTable table = nullptr;
  unsigned size = 0;
  if (callbacks->GetModuleFunctionTable(NVTX_CB_MODULE_CORE, &table, &size) == 0) return 0;
  take(table, size, NVTX_CBID_CORE_NameOsThreadA, &name_thread);
  if (callbacks->GetModuleFunctionTable(NVTX_CB_MODULE_CUDA, &table, &size) == 0) return 0;
  take(table, size, NVTX_CBID_CUDA_NameCuStreamA, &name_stream);
  if (callbacks->GetModuleFunctionTable(NVTX_CB_MODULE_CORE2, &table, &size) == 0) return 0;
  take(table, size, NVTX_CBID_CORE2_DomainCreateA, &create_domain);
  take(table, size, NVTX_CBID_CORE2_DomainRegisterStringA, &register_string);
  take(table, size, NVTX_CBID_CORE2_DomainNameCategoryA, &name_category);
  take(table, size, NVTX_CBID_CORE2_DomainRangePushEx, &push);
  take(table, size, NVTX_CBID_CORE2_DomainRangePop, &pop);
  take(table, size, NVTX_CBID_CORE2_DomainRangeStartEx, &start);
  take(table, size, NVTX_CBID_CORE2_DomainRangeEnd, &end);
  return 1;
}
