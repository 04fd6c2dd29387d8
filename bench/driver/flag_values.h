// SPDX-License-Identifier: Apache-2.0
//
// Values that flags of one program take: names of a choice, lists, sizes. The options of a step are
// in common/options/table.h.
#pragma once

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/error.h"
#include "common/base/units.h"

namespace tandem::bench {

// A value that a flag takes by name.
template <class T>
struct Choice {
  std::string_view name;
  T value;
};

// The value that `text` names; throws a usage error that lists what `flag` takes where there is
// none.
template <class T, std::size_t N>
[[nodiscard]] T choose(const char* flag, std::string_view text,
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

// Throws a usage error for fewer --samples than statistics take.
void check_samples(int samples);

// Sizes as a person lists them, separated by commas: a size (16MiB), a range that doubles
// (1KiB:64MiB), or a range with its factor (1KiB:1GiB:4). Sizes keep the given order, each size
// once. A range ends at the last size that does not exceed the range's end. Throws a usage error
// that names `flag`.
[[nodiscard]] std::vector<Bytes> parse_sizes(const std::string& text, const std::string& flag);

}  // namespace tandem::bench
