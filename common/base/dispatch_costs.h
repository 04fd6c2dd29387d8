// SPDX-License-Identifier: Apache-2.0
//
// The one list of what the modelled interpreter charges for, and the cost of each kind.
#pragma once

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

#include "common/base/units.h"

namespace tandem {

enum class DispatchKind {
  kCall,
  kOperation,
  kReplicaModule,
  kReplicaParameter,
  kReplicaBuffer,
  kScatter,
  kGather,
  kOptimizer,
  kAutograd,
  kDdpHook,
};

// The thread that does the work of a kind.
enum class Dispatcher {
  kPython,    // a thread that holds the interpreter meanwhile; such work counts as a dispatch
  kAutograd,  // autograd's thread of the device, which holds no interpreter; not counted
};

struct DispatchKindTraits {
  DispatchKind kind;
  std::string_view name;
  Dispatcher dispatcher = Dispatcher::kPython;
};

// In the order of DispatchKind.
inline constexpr auto kDispatchKinds = std::to_array<DispatchKindTraits>({
    {DispatchKind::kCall, "call"},            // of a module, of the loss
    {DispatchKind::kOperation, "operation"},  // outside a module: a view, an addition, a copy
    {DispatchKind::kReplicaModule, "replica-module"},  // per module of each replica
    {DispatchKind::kReplicaParameter, "replica-parameter"},
    {DispatchKind::kReplicaBuffer, "replica-buffer"},
    {DispatchKind::kScatter, "scatter"},                           // per piece of a tensor
    {DispatchKind::kGather, "gather"},                             // per piece of a tensor
    {DispatchKind::kOptimizer, "optimizer"},                       // per parameter
    {DispatchKind::kAutograd, "autograd", Dispatcher::kAutograd},  // per node of backward
    {DispatchKind::kDdpHook, "ddp-hook", Dispatcher::kAutograd},   // per parameter
});
inline constexpr std::size_t kDispatchKindCount = kDispatchKinds.size();

inline constexpr auto kDispatchKindNames = [] {
  std::array<std::string_view, kDispatchKindCount> names{};
  std::ranges::transform(kDispatchKinds, names.begin(), &DispatchKindTraits::name);
  return names;
}();

// The cost of one piece of work of each kind; 0 where nothing is modelled.
class DispatchCosts {
 public:
  DispatchCosts() = default;

  // The same cost for each kind that Python dispatches, none for autograd's thread.
  [[nodiscard]] static DispatchCosts alike(Nanoseconds cost);

  [[nodiscard]] Nanoseconds of(DispatchKind kind) const {
    return costs_[static_cast<std::size_t>(kind)];
  }
  void set(DispatchKind kind, Nanoseconds cost) { costs_[static_cast<std::size_t>(kind)] = cost; }

  // The costs of the kinds that this thread works on; the others cost nothing.
  [[nodiscard]] DispatchCosts only(Dispatcher dispatcher) const;

  // Whether some kind costs something.
  [[nodiscard]] bool any() const { return *this != DispatchCosts(); }

  friend bool operator==(const DispatchCosts&, const DispatchCosts&) = default;

 private:
  std::array<Nanoseconds, kDispatchKindCount> costs_{};
};

// Reads "8us", one cost alike, or "call:3us,gather:9us", the costs of kinds, where a kind that is
// not named costs nothing. Throws a usage error that begins with `what`.
[[nodiscard]] DispatchCosts parse_dispatch_costs(std::string_view text, std::string_view what);

// Whether the text gives costs of kinds, not one cost alike.
[[nodiscard]] bool has_dispatch_kinds(std::string_view text);

// The text for people: "8.0 us", or the costs of the kinds that cost something.
[[nodiscard]] std::string to_string(const DispatchCosts& costs);

}  // namespace tandem
