// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

// Private to results: texts as JSON has them between quotes.
namespace tandem::results {

struct JsonTextEnd {
  bool is_valid = false;  // escapes are ones that there are, and all else is UTF-8
  bool is_cut_off = false;
  bool has_escapes = false;
  std::size_t quote = 0;  // place of the closing one
};

// Of the text that begins behind a quote, at `begin`.
[[nodiscard]] JsonTextEnd end_of_text(std::string_view json, std::size_t begin);

// What a valid text with escapes stands for.
[[nodiscard]] std::string without_escapes(std::string_view text);

}  // namespace tandem::results
