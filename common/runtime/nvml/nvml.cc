// SPDX-License-Identifier: Apache-2.0
#include "common/runtime/nvml/nvml.h"

#include <algorithm>
#include <array>
#include <optional>

#include "common/base/library.h"
#include "common/runtime/nvml/nvml_api.h"

namespace tandem::nvml {

namespace {

// NVML_SYSTEM_DRIVER_VERSION_BUFFER_SIZE
constexpr unsigned kDriverVersionLength = 80;
constexpr unsigned kNameLength = 96;     // NVML_DEVICE_NAME_V2_BUFFER_SIZE
constexpr unsigned kAffinityWords = 64;  // 4096 processors
constexpr unsigned kBitsPerWord = 8 * sizeof(unsigned long);

struct Slowdown {
  unsigned long long bit;
  const char* name;
};
// 0x1 idle, 0x2 clocks set by the user, 0x10 sync boost and 0x100 display clocks are left out:
// these are settings, or lack of work.
constexpr std::array kSlowdowns{Slowdown{0x4, "power cap"}, Slowdown{0x8, "hardware slowdown"},
                                Slowdown{0x20, "thermal slowdown (software)"},
                                Slowdown{0x40, "thermal slowdown (hardware)"},
                                Slowdown{0x80, "power brake"}};

template <class Number>
std::optional<int> as_int(const std::optional<Number>& value) {
  if (!value) return std::nullopt;
  return static_cast<int>(*value);
}

// The text that a function writes; empty where the driver does not report it.
template <class Function, class... Gpu>
std::string text_of(Function function, unsigned length, Gpu... gpu) {
  std::string text(length, '\0');
  if (function == nullptr || function(gpu..., text.data(), length) != kSuccess) return "";
  return text.c_str();  // cuts the text at its terminator
}

std::optional<std::int64_t> memory_of(const Api& api, DeviceRef gpu) {
  const auto memory = answered<Memory>(api.memory, gpu);
  if (!memory) return std::nullopt;
  return static_cast<std::int64_t>(memory->total);
}

std::optional<bool> divided(const Api& api, DeviceRef gpu) {
  unsigned current = 0;
  unsigned pending = 0;
  if (api.mig_mode == nullptr || api.mig_mode(gpu, &current, &pending) != kSuccess) {
    return std::nullopt;  // a GPU that cannot be divided says "not supported"
  }
  return current != 0;
}

std::string compute_mode(const Api& api, DeviceRef gpu) {
  const auto mode = answered<int>(api.compute_mode, gpu);
  switch (mode.value_or(-1)) {  // nvmlComputeMode_t
    case 0:
      return "default";
    case 2:
      return "prohibited";
    case 3:
      return "exclusive process";
    default:
      return "";
  }
}

std::optional<int> processes(const Api& api, DeviceRef gpu) {
  if (api.compute_processes == nullptr) return std::nullopt;
  unsigned count = 0;
  const Result result = api.compute_processes(gpu, &count, nullptr);
  if (result != kSuccess && result != kInsufficientSize) return std::nullopt;
  return static_cast<int>(count);
}

std::optional<int> active_nvlinks(const Api& api, DeviceRef gpu) {
  if (api.nvlink_state == nullptr) return std::nullopt;
  int active = 0;
  for (unsigned link = 0; link < kMostNvlinks; ++link) {
    const auto state = answered<unsigned>(api.nvlink_state, gpu, link);
    if (!state && link == 0) return std::nullopt;
    if (!state) break;
    active += *state != 0 ? 1 : 0;
  }
  return active;
}

// The bits that an affinity function sets; none where the driver does not report them.
template <class Function, class... Scope>
std::vector<int> affinity(Function function, DeviceRef gpu, Scope... scope) {
  std::array<unsigned long, kAffinityWords> mask{};
  std::vector<int> bits;
  if (function == nullptr || function(gpu, kAffinityWords, mask.data(), scope...) != kSuccess) {
    return bits;
  }
  for (unsigned bit = 0; bit < kAffinityWords * kBitsPerWord; ++bit) {
    if ((mask[bit / kBitsPerWord] >> (bit % kBitsPerWord) & 1UL) != 0) {
      bits.push_back(static_cast<int>(bit));
    }
  }
  return bits;
}

std::optional<int> near_node(const Api& api, DeviceRef gpu) {
  const std::vector<int> nodes = affinity(api.memory_affinity, gpu, kScopeNode);
  return nodes.empty() ? std::nullopt : std::optional(nodes.front());
}

}  // namespace

std::unique_ptr<const Api> load_api() {
  Library library("libnvidia-ml.so.1");
  auto api = std::make_unique<Api>();
#define TANDEM_FIND(place, name, parameters) library.find_optional(api->place, #name);
  TANDEM_EACH_NVML_CALL(TANDEM_FIND)
#undef TANDEM_FIND
  const bool enough =
      api->init != nullptr && api->shutdown != nullptr && api->by_pci_address != nullptr;
  return enough ? std::move(api) : nullptr;
}

std::vector<std::string> slowdowns_in(unsigned long long reasons) {
  std::vector<std::string> names;
  for (const Slowdown& slowdown : kSlowdowns) {
    if ((reasons & slowdown.bit) != 0) names.emplace_back(slowdown.name);
  }
  return names;
}

std::unique_ptr<Nvml> Nvml::open() {
  static const std::unique_ptr<const Api> api = load_api();
  return api ? open(*api) : nullptr;
}

std::unique_ptr<Nvml> Nvml::open(const Api& api) {
  if (api.init() != kSuccess) return nullptr;
  return std::unique_ptr<Nvml>(new Nvml(api));
}

Nvml::~Nvml() { static_cast<void>(api_.shutdown()); }

std::optional<DeviceRef> Nvml::find(const std::string& pci_address) const {
  return answered<DeviceRef>(api_.by_pci_address, pci_address.c_str());
}

std::optional<GpuFacts> Nvml::facts(const std::string& pci_address) const {
  const auto gpu = find(pci_address);
  if (!gpu) return std::nullopt;
  return GpuFacts{.driver = text_of(api_.driver_version, kDriverVersionLength),
                  .name = text_of(api_.name, kNameLength, *gpu),
                  .memory_bytes = memory_of(api_, *gpu),
                  .mig = divided(api_, *gpu),
                  .compute_mode = compute_mode(api_, *gpu),
                  .nvlinks = active_nvlinks(api_, *gpu),
                  .near_cores = affinity(api_.cpu_affinity, *gpu),
                  .near_node = near_node(api_, *gpu),
                  .processes = processes(api_, *gpu)};
}

std::optional<GpuState> Nvml::state(const std::string& pci_address) const {
  const auto gpu = find(pci_address);
  if (!gpu) return std::nullopt;
  GpuState state{
      .sm_mhz = as_int(answered<unsigned>(api_.clock, *gpu, kClockSm)),
      .memory_mhz = as_int(answered<unsigned>(api_.clock, *gpu, kClockMemory)),
      .celsius = as_int(answered<unsigned>(api_.temperature, *gpu, kTemperatureGpu)),
      .slowed_by = slowdowns_in(answered<unsigned long long>(api_.clock_limits, *gpu).value_or(0))};
  if (const auto milliwatts = answered<unsigned>(api_.power, *gpu))
    state.watts = *milliwatts * 1e-3;
  return state;
}

std::optional<int> Nvml::sm_clock(const std::string& pci_address) const {
  const auto gpu = find(pci_address);
  return gpu ? as_int(answered<unsigned>(api_.clock, *gpu, kClockSm)) : std::nullopt;
}

std::optional<std::uint64_t> Nvml::energy(const std::string& pci_address) const {
  const auto gpu = find(pci_address);
  return gpu ? answered<unsigned long long>(api_.energy, *gpu) : std::nullopt;
}

HeldDown Nvml::held_down(const std::string& pci_address) const {
  const auto gpu = find(pci_address);
  return gpu ? nvml::held_down(api_, *gpu) : HeldDown{};
}

namespace {

struct Cause {
  const char* name;
  unsigned policy;  // nvmlPerfPolicyType_t
  unsigned field;   // NVML_FI_DEV_PERF_POLICY_..., which some drivers have in place of the policy
};
// Sync boost and low utilisation are left out: these are settings, or lack of work.
constexpr std::array kCauses{Cause{"power cap", 0, 74}, Cause{"thermal slowdown", 1, 75},
                             Cause{"board limit", 3, 77}, Cause{"reliability", 5, 79}};

std::optional<Nanoseconds> nanoseconds(unsigned long long count) {
  return Nanoseconds(static_cast<Nanoseconds::rep>(count));
}

std::optional<Nanoseconds> by_field(const Api& api, DeviceRef gpu, unsigned field) {
  FieldValue value{};
  value.field = field;
  if (api.field_values == nullptr || api.field_values(gpu, 1, &value) != kSuccess) {
    return std::nullopt;
  }
  if (value.result != kSuccess || value.type != kUnsigned64) return std::nullopt;
  return nanoseconds(value.value);
}

std::optional<Nanoseconds> time_of(const Api& api, DeviceRef gpu, const Cause& cause) {
  if (const auto violation = answered<ViolationTime>(api.violation, gpu, cause.policy)) {
    return nanoseconds(violation->nanoseconds);
  }
  return by_field(api, gpu, cause.field);
}

}  // namespace

HeldDown held_down(const Api& api, DeviceRef gpu) {
  HeldDown times;
  for (const Cause& cause : kCauses) {
    if (const auto time = time_of(api, gpu, cause)) times[cause.name] = *time;
  }
  return times;
}

HeldDown between(const HeldDown& before, const HeldDown& after) {
  HeldDown added;
  for (const auto& [cause, start] : before) {
    const auto end = after.find(cause);
    if (end != after.end() && end->second >= start) added[cause] = end->second - start;
  }
  return added;
}

namespace {

// The place where two GPUs' paths meet, by nvmlGpuTopologyLevel_t.
std::string path_between(const Api& api, DeviceRef one, DeviceRef other) {
  const auto level = answered<unsigned>(api.common_ancestor, one, other);
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
    const auto status = answered<unsigned>(api.p2p_status, one, other, capability);
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
  const auto remote = answered<PciInfo>(api.nvlink_remote_pci, gpu, link);
  if (!remote) return false;
  return answered<DeviceRef>(api.by_pci_address, static_cast<const char*>(remote->address)) ==
         other;
}

std::optional<Links> links_of(const Api& api, DeviceRef gpu, DeviceRef other) {
  if (api.nvlink_remote_type == nullptr || api.nvlink_remote_pci == nullptr) return std::nullopt;
  Links links;
  for (unsigned link = 0; link < kMostNvlinks; ++link) {
    const auto active = answered<unsigned>(api.nvlink_state, gpu, link);
    if (!active && link == 0) return std::nullopt;  // no such link on the GPU
    if (!active) break;
    if (*active == 0) continue;
    const auto type = answered<unsigned>(api.nvlink_remote_type, gpu, link);
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

PairFacts pair_facts(const Api& api, DeviceRef one, DeviceRef other) {
  return {.peer_access = reaches(api, one, other),
          .nvlinks = nvlinks_between(api, one, other),
          .path = path_between(api, one, other)};
}

}  // namespace

std::optional<PairFacts> Nvml::pair(const std::string& pci_address,
                                    const std::string& other) const {
  const auto one = find(pci_address);
  const auto two = find(other);
  if (!one || !two || *one == *two) return std::nullopt;
  return pair_facts(api_, *one, *two);
}

}  // namespace tandem::nvml
