// SPDX-License-Identifier: Apache-2.0
//
// Values that flags of one program take by name; those of a step are in common/options/table.h.
#pragma once

#include <array>
#include <string>
#include <string_view>

#include "common/base/error.h"

namespace tandem::bench {

template <class T>
struct Choice {
  std::string_view name;
  T value;
};

// The value that `text` names; throws a usage error that lists what `flag` takes where there is
// none.
template <class T, std::size_t N>
[[nodiscard]] T choose(const char* flag, const std::string& text,
                       const std::array<Choice<T>, N>& choices) {
  std::string known;
  for (const auto& choice : choices) {
    if (choice.name == text) return choice.value;
    known += fmt::format("{}{}", known.empty() ? "" : ", ", choice.name);
  }
  fail(ErrorKind::kUsage, "{}: '{}' is not known: use one of {}", flag, text, known);
}

template <class T, std::size_t N>
[[nodiscard]] std::string name_of(T value, const std::array<Choice<T>, N>& choices) {
  for (const auto& choice : choices) {
    if (choice.value == value) return std::string(choice.name);
  }
  return "";
}

}  // namespace tandem::bench
