// SPDX-License-Identifier: Apache-2.0
//
// What most functions of these libraries do: write one value, or delete what a handle points to,
// and succeed.
#pragma once

#include <concepts>
#include <type_traits>

namespace tandem::pretend {

// 0 of each library's own type of status.
struct Success {
  template <typename Status>
  requires std::is_enum_v<Status> || std::same_as<Status, int>
  constexpr operator Status() const {
    return Status{};
  }
};

template <typename Value>
constexpr Success put(Value* to, std::type_identity_t<Value> value) {
  *to = value;
  return {};
}

template <typename Made>
Success destroy(const Made* made) {
  delete made;
  return {};
}

}  // namespace tandem::pretend
