// SPDX-License-Identifier: Apache-2.0
#include "common/base/dispatch_costs.h"

#include <fmt/ranges.h>

#include <set>
#include <vector>

#include "common/base/error.h"
#include "common/base/known_names.h"
#include "common/base/text.h"

namespace tandem {
namespace {

constexpr Nanoseconds kMostCost = std::chrono::milliseconds(10);

Nanoseconds parse_cost(std::string_view text, std::string_view what) {
  const Nanoseconds cost = parse_duration(text, what);
  if (cost > kMostCost) {
    fail(ErrorKind::kUsage, "{}={}: a call takes microseconds: use 10ms or less", what, text);
  }
  return cost;
}

DispatchKind parse_kind(std::string_view name, std::string_view what) {
  const auto* const found = std::ranges::find(kDispatchKinds, name, &DispatchKindTraits::name);
  if (found != kDispatchKinds.end()) return found->kind;
  fail(ErrorKind::kUsage, "{}: '{}' is no kind of work{}: use one of {}", what, name,
       did_you_mean(name, kDispatchKindNames), fmt::join(kDispatchKindNames, ", "));
}

}  // namespace

DispatchCosts DispatchCosts::alike(Nanoseconds cost) {
  DispatchCosts costs;
  costs.costs_.fill(cost);
  return costs.only(Dispatcher::kPython);
}

DispatchCosts DispatchCosts::only(Dispatcher dispatcher) const {
  DispatchCosts costs;
  for (const DispatchKindTraits& traits : kDispatchKinds) {
    if (traits.dispatcher == dispatcher) costs.set(traits.kind, of(traits.kind));
  }
  return costs;
}

DispatchCosts parse_dispatch_costs(std::string_view text, std::string_view what) {
  if (!has_dispatch_kinds(text)) return DispatchCosts::alike(parse_cost(text, what));
  DispatchCosts costs;
  std::set<DispatchKind> given;
  for (const std::string_view part : split(text, ',')) {
    const std::size_t colon = part.find(':');
    if (colon == std::string_view::npos) {
      fail(ErrorKind::kUsage, "{}: '{}' has no kind or no cost: give both, such as call:3us", what,
           part);
    }
    const DispatchKind kind = parse_kind(part.substr(0, colon), what);
    if (!given.insert(kind).second) {
      fail(ErrorKind::kUsage, "{}: '{}' is given twice: give each kind one cost", what,
           part.substr(0, colon));
    }
    costs.set(kind, parse_cost(part.substr(colon + 1), what));
  }
  return costs;
}

bool has_dispatch_kinds(std::string_view text) { return text.find_first_of(":,") != text.npos; }

std::string to_string(const DispatchCosts& costs) {
  const Nanoseconds call = costs.of(DispatchKind::kCall);
  if (costs == DispatchCosts::alike(call)) return to_string(Seconds(call));
  std::vector<std::string> parts;
  for (const DispatchKindTraits& traits : kDispatchKinds) {
    const Nanoseconds cost = costs.of(traits.kind);
    if (cost > Nanoseconds{0}) {
      parts.push_back(fmt::format("{} {}", traits.name, to_string(Seconds(cost))));
    }
  }
  return fmt::format("{}", fmt::join(parts, ", "));
}

}  // namespace tandem
