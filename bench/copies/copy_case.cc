// SPDX-License-Identifier: Apache-2.0
#include "bench/copies/copy_case.h"

#include <fmt/format.h>

namespace tandem::bench {

std::string name_of(const Endpoint& endpoint, Backend backend) {
  switch (endpoint.kind) {
    case Endpoint::Kind::kDevice:
      return to_string(DeviceId{backend, endpoint.device});
    case Endpoint::Kind::kPinned:
      return "pinned";
    case Endpoint::Kind::kPageable:
      return "pageable";
  }
  return "";
}

std::vector<Endpoint> endpoints_of(int devices) {
  std::vector<Endpoint> endpoints;
  for (int device = 0; device < devices; ++device) {
    endpoints.push_back({Endpoint::Kind::kDevice, device});
  }
  endpoints.push_back({Endpoint::Kind::kPinned});
  endpoints.push_back({Endpoint::Kind::kPageable});
  return endpoints;
}

std::vector<CopyCase> copy_cases(int devices, Ways ways, Bytes size) {
  const std::vector<Endpoint> endpoints = endpoints_of(devices);
  std::vector<CopyCase> cases;
  for (std::size_t from = 0; from < endpoints.size(); ++from) {
    for (std::size_t to = 0; to < endpoints.size(); ++to) {
      const CopyCase added{
          .from = endpoints[from], .to = endpoints[to], .ways = ways, .size = size};
      if (!added.from.is_device() && !added.to.is_device()) continue;
      const bool is_pageable = added.to.kind == Endpoint::Kind::kPageable;
      if (ways == Ways::kBoth && (from >= to || is_pageable)) continue;
      cases.push_back(added);
    }
  }
  return cases;
}

std::string name_of(const CopyCase& measured, Backend backend, const std::string& link) {
  return fmt::format("copy/from:{}/to:{}{}/bytes:{}{}", name_of(measured.from, backend),
                     name_of(measured.to, backend),
                     measured.ways == Ways::kBoth ? "/both_ways" : "", measured.size.value,
                     link.empty() ? "" : fmt::format("/link:{}", link));
}

}  // namespace tandem::bench
