// SPDX-License-Identifier: Apache-2.0
//
// The pretended NVML: which GPUs there are, as torch and NCCL's users ask. What a GPU does at the
// moment (clocks, power, use) is not supported.
#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include "pretend/core/device.h"
#include "pretend/core/memory.h"
#include "pretend/core/put.h"
#include "pretend/core/settings.h"

using namespace tandem::pretend;

namespace {

constexpr int kSuccess = 0;
constexpr int kInvalidArgument = 2;
constexpr int kNotSupported = 3;
constexpr int kNotFound = 6;
constexpr size_t kDomainDigits = 5;  // "0000:"

// NVML numbers the node's GPUs, whatever CUDA_VISIBLE_DEVICES says; a handle is the number + 1.
struct Gpu;
int index_of(const Gpu* gpu) { return static_cast<int>(reinterpret_cast<intptr_t>(gpu)) - 1; }

int node_gpus() {
  const char* const text = std::getenv(kGpusVariable);
  return text == nullptr ? 1 : std::atoi(text);
}

int give(char* to, unsigned room, const char* text) {
  std::snprintf(to, room, "%s", text);
  return kSuccess;
}

// nvmlMemory_t
struct Memory {
  uint64_t total;
  uint64_t free;
  uint64_t used;
};

std::array<char, 64> uuid_text(int index) {
  std::array<char, 64> text{};
  const auto uuid = uuid_of(index);
  int length = std::snprintf(text.data(), text.size(), "GPU-");
  for (size_t at = 0; at < uuid.size(); ++at) {
    const bool dash = at == 4 || at == 6 || at == 8 || at == 10;
    length +=
        std::snprintf(text.data() + length, text.size() - static_cast<size_t>(length), "%s%02x",
                      dash ? "-" : "", static_cast<unsigned>(static_cast<unsigned char>(uuid[at])));
  }
  return text;
}

int handle_of(const Gpu** gpu, int index) {
  *gpu = reinterpret_cast<const Gpu*>(static_cast<intptr_t>(index) + 1);
  return index >= 0 && index < node_gpus() ? kSuccess : kInvalidArgument;
}

}  // namespace

extern "C" {

int nvmlInit_v2() { return kSuccess; }
int nvmlInit() { return kSuccess; }
int nvmlInitWithFlags(unsigned) { return kSuccess; }
int nvmlShutdown() { return kSuccess; }

const char* nvmlErrorString(int error) {
  return error == kSuccess ? "Success" : "not supported by Tandem's pretended NVML";
}

int nvmlSystemGetDriverVersion(char* text, unsigned room) { return give(text, room, "pretended"); }

int nvmlSystemGetCudaDriverVersion_v2(int* version) {
  return put(version, settings().versions.runtime);
}

int nvmlSystemGetCudaDriverVersion(int* version) {
  return nvmlSystemGetCudaDriverVersion_v2(version);
}

int nvmlDeviceGetCount_v2(unsigned* count) {
  return put(count, static_cast<unsigned>(node_gpus()));
}

int nvmlDeviceGetCount(unsigned* count) { return nvmlDeviceGetCount_v2(count); }

int nvmlDeviceGetHandleByIndex_v2(unsigned index, const Gpu** gpu) {
  return handle_of(gpu, static_cast<int>(index));
}

int nvmlDeviceGetHandleByIndex(unsigned index, const Gpu** gpu) {
  return handle_of(gpu, static_cast<int>(index));
}

int nvmlDeviceGetHandleByPciBusId_v2(const char* name, const Gpu** gpu) {
  for (int index = 0; index < node_gpus(); ++index) {
    // NVML writes the domain with 8 digits, CUDA with 4: the ends are the same.
    const std::string known = std::string(pci_name(index).text.data()).substr(kDomainDigits);
    if (std::string(name).ends_with(known)) return handle_of(gpu, index);
  }
  return kNotFound;
}

int nvmlDeviceGetHandleByUUID(const char* uuid, const Gpu** gpu) {
  for (int index = 0; index < node_gpus(); ++index) {
    if (std::strcmp(uuid, uuid_text(index).data()) == 0) return handle_of(gpu, index);
  }
  return kNotFound;
}

int nvmlDeviceGetUUID(const Gpu* gpu, char* text, unsigned room) {
  return give(text, room, uuid_text(index_of(gpu)).data());
}

int nvmlDeviceGetName(const Gpu*, char* text, unsigned room) {
  return give(text, room, settings().card->name);
}

int nvmlDeviceGetIndex(const Gpu* gpu, unsigned* index) {
  return put(index, static_cast<unsigned>(index_of(gpu)));
}

int nvmlDeviceGetMemoryInfo(const Gpu*, Memory* memory) {
  const auto total = static_cast<uint64_t>(settings().card->memory);
  *memory = {total, total, 0};
  return kSuccess;
}

int nvmlDeviceGetCudaComputeCapability(const Gpu*, int* major, int* minor) {
  *major = settings().card->major;
  *minor = settings().card->minor;
  return kSuccess;
}

int nvmlDeviceGetComputeRunningProcesses(const Gpu*, unsigned* count, void*) {
  return put(count, 0);
}

int nvmlDeviceGetComputeRunningProcesses_v2(const Gpu* gpu, unsigned* count, void* list) {
  return nvmlDeviceGetComputeRunningProcesses(gpu, count, list);
}

int nvmlDeviceGetComputeRunningProcesses_v3(const Gpu* gpu, unsigned* count, void* list) {
  return nvmlDeviceGetComputeRunningProcesses(gpu, count, list);
}

// nvmlGpuP2PStatus_t: 0 is "possible", 6 "not supported".
int nvmlDeviceGetP2PStatus(const Gpu*, const Gpu*, int, int* status) {
  return put(status, settings().card->peers ? 0 : 6);
}

int nvmlDeviceGetNvLinkRemoteDeviceType(const Gpu*, unsigned, int*) { return kNotSupported; }
int nvmlDeviceGetNvLinkRemotePciInfo_v2(const Gpu*, unsigned, void*) { return kNotSupported; }
int nvmlDeviceGetNvLinkState(const Gpu*, unsigned, int*) { return kNotSupported; }
int nvmlDeviceGetGpuFabricInfoV(const Gpu*, void*) { return kNotSupported; }
}
