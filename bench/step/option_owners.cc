// SPDX-License-Identifier: Apache-2.0
#include "bench/step/option_owners.h"

#include <fmt/ranges.h>

#include <algorithm>

namespace tandem::bench {
namespace {

using Kinds = std::vector<StrategyKind>;

std::vector<OwnedOption> make_owned_options() {
  const Kinds dp{StrategyKind::kDp};
  const Kinds ddp{StrategyKind::kDdp};
  const Kinds all_reduce{StrategyKind::kDdp, StrategyKind::kDpAllReduce};
  std::vector<OwnedOption> options;
  for (const char* name :
       {"device-ids", "output-device", "threads", "replicate", "broadcast", "loss", "reduce"}) {
    options.push_back({name, dp});
  }
  for (const char* name :
       {"grads", "overlap", "bucket-mb", "first-bucket-mb", "accumulate", "static-graph",
        "compress", "powersgd-start", "reducer", "cycle-time", "fusion-mb"}) {
    options.push_back({name, all_reduce});
  }
  options.push_back({"join", ddp});
  for (const char* name : {"comm", "check-order"}) {
    options.push_back({name, {StrategyKind::kDdp, StrategyKind::kDdpReplicate}});
  }
  return options;
}

const OwnedOption* find(const std::string& option) {
  const auto& all = owned_options();
  const auto found =
      std::find_if(all.begin(), all.end(), [&](const auto& o) { return o.name == option; });
  return found == all.end() ? nullptr : &*found;
}

}  // namespace

const std::vector<OwnedOption>& owned_options() {
  static const std::vector<OwnedOption> options = make_owned_options();
  return options;
}

bool has_option(StrategyKind strategy, const std::string& option) {
  const OwnedOption* const owned = find(option);
  if (owned == nullptr) return true;
  return std::find(owned->owners.begin(), owned->owners.end(), strategy) != owned->owners.end();
}

std::string owners_of(const std::string& option) {
  const OwnedOption* const owned = find(option);
  if (owned == nullptr) return "every strategy";
  std::vector<std::string> names;
  for (const StrategyKind kind : owned->owners) names.push_back(to_string(kind));
  return fmt::format("{}", fmt::join(names, " and "));
}

}  // namespace tandem::bench
