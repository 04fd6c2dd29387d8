// SPDX-License-Identifier: Apache-2.0
#include "common/runtime/nvml/held_down.h"

#include <array>
#include <optional>

#include "common/runtime/nvml/told.h"

namespace tandem::nvml {
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
  if (const auto violation = told<ViolationTime>(api.violation, gpu, cause.policy)) {
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

}  // namespace tandem::nvml
