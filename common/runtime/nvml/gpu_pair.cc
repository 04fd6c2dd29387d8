// SPDX-License-Identifier: Apache-2.0
#include "common/runtime/nvml/gpu_pair.h"

#include <algorithm>

#include "common/runtime/nvml/nvml_api.h"

namespace tandem::nvml {
namespace {

// The place where two GPUs' paths meet, by nvmlGpuTopologyLevel_t.
std::string path_between(const Api& api, DeviceRef one, DeviceRef other) {
  const auto level = told<unsigned>(api.common_ancestor, one, other);
  if (!level) return "";
  switch (*level) {
    case 0:
      return "same board";
    case 10:
      return "PCIe switch";
    case 20:
      return "PCIe switches";
    case 30:
      return "host bridge";
    case 40:
      return "NUMA node";
    case 50:
      return "system";
    default:
      return "";
  }
}

std::optional<bool> reaches(const Api& api, DeviceRef one, DeviceRef other) {
  bool all = true;
  for (const unsigned capability : {kPeerRead, kPeerWrite}) {
    const auto status = told<unsigned>(api.p2p_status, one, other, capability);
    if (!status || *status == kPeerUnknown) return std::nullopt;
    all = all && *status == kPeerOk;
  }
  return all;
}

struct Links {
  int to_peer = 0;
  int to_switches = 0;
};

bool leads_to(const Api& api, DeviceRef gpu, unsigned link, DeviceRef other) {
  const auto remote = told<PciInfo>(api.nvlink_remote_pci, gpu, link);
  if (!remote) return false;
  return told<DeviceRef>(api.by_pci_address, static_cast<const char*>(remote->address)) == other;
}

std::optional<Links> links_of(const Api& api, DeviceRef gpu, DeviceRef other) {
  if (api.nvlink_remote_type == nullptr || api.nvlink_remote_pci == nullptr) return std::nullopt;
  Links links;
  for (unsigned link = 0; link < kMostNvlinks; ++link) {
    const auto active = told<unsigned>(api.nvlink_state, gpu, link);
    if (!active && link == 0) return std::nullopt;  // no such link on the GPU
    if (!active) break;
    if (*active == 0) continue;
    const auto type = told<unsigned>(api.nvlink_remote_type, gpu, link);
    if (type == kRemoteSwitch) ++links.to_switches;
    if (type == kRemoteGpu && leads_to(api, gpu, link, other)) ++links.to_peer;
  }
  return links;
}

std::optional<int> nvlinks_between(const Api& api, DeviceRef one, DeviceRef other) {
  const auto from_one = links_of(api, one, other);
  const auto from_other = links_of(api, other, one);
  if (!from_one || !from_other) return std::nullopt;
  return from_one->to_peer + std::min(from_one->to_switches, from_other->to_switches);
}

}  // namespace

PairFacts pair_facts(const Api& api, DeviceRef one, DeviceRef other) {
  return {.peer_access = reaches(api, one, other),
          .nvlinks = nvlinks_between(api, one, other),
          .path = path_between(api, one, other)};
}

}  // namespace tandem::nvml
