// SPDX-License-Identifier: Apache-2.0
#include "common/comm/nccl_module.h"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cstdlib>
#include <utility>

#include "common/runtime/cuda_module.h"

namespace tandem {
namespace {

constexpr const char* kSharedGpusVariable = "NCCL_MULTI_RANK_GPU_ENABLE";

// The variables of a user's environment that decide how data moves. The list keeps the rest of the
// environment out of a record.
constexpr std::array kTellingVariables{
    "NCCL_ALGO",       "NCCL_PROTO",    "NCCL_P2P_DISABLE", "NCCL_NVLS_ENABLE",  "NCCL_SHM_DISABLE",
    "NCCL_IB_DISABLE", "NCCL_MIN_CTAS", "NCCL_MAX_CTAS",    kSharedGpusVariable,
};

}  // namespace

const NcclModule* find_nccl_module() {
  using Entry = const NcclModule* (*)();
  const auto entry = reinterpret_cast<Entry>(find_entry(load_cuda_module(), kNcclModuleEntry));
  if (entry == nullptr) return nullptr;
  const NcclModule* const module = entry();
  return module->abi == kNcclModuleAbi ? module : nullptr;
}

NcclProbe probe_nccl() {
  const NcclModule* const module = find_nccl_module();
  if (module != nullptr) return module->probe();
  return {.trouble = "this build's CUDA module has no NCCL: build it with NCCL's header nccl.h"};
}

// NCCL's file src/misc/param.cc reads numbers so; before 2.30 it has no such variable.
bool takes_shared_gpus(const NcclProbe& probe) {
  const char* const value = std::getenv(kSharedGpusVariable);
  if (value == nullptr || std::strtoll(value, nullptr, 0) == 0) return false;
  const char* const end = probe.version.data() + probe.version.size();
  std::pair version(0, 0);
  const char* const dot = std::from_chars(probe.version.data(), end, version.first).ptr;
  if (dot != end) std::from_chars(dot + 1, end, version.second);
  return version >= std::pair(2, 30);
}

std::string describe_nccl(const NcclProbe& probe) {
  std::string prescribed;
  for (const char* const variable : kTellingVariables) {
    const char* const value = std::getenv(variable);
    if (value != nullptr) prescribed += fmt::format(", {}={}", variable, value);
  }
  return fmt::format("{}; algorithm and protocol chosen by NCCL, which does not report them{}",
                     probe.version, prescribed);
}

// NVLink SHARP reaches peers' memory as well, by another path.
void forbid_peer_access_to_nccl() {
  setenv("NCCL_P2P_DISABLE", "1", 1);
  setenv("NCCL_NVLS_ENABLE", "0", 1);
}

}  // namespace tandem
