// SPDX-License-Identifier: Apache-2.0
//
// Text in lines that a terminal has room for.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace tandem {

// A line for people has no more columns, on the widest terminal and in a file.
inline constexpr std::size_t kMostColumns = 100;

// The columns of the terminal behind a file descriptor, kMostColumns at most; where there is no
// terminal, COLUMNS says how many, and else kMostColumns.
[[nodiscard]] std::size_t columns_of(int descriptor);

// As many code points as the text has.
[[nodiscard]] std::size_t width_of(std::string_view text);

// The text with `substitute` for each control character: a line end would break a line, and an
// escape sequence could do worse to a terminal.
[[nodiscard]] std::string printable(std::string text, char substitute = ' ');

// The text in lines of so many columns, broken between words; `first` begins the first line, as
// many spaces the others. A word that is longer stays whole, as it may be a path to be copied.
[[nodiscard]] std::string to_lines(const std::string& text, std::size_t columns,
                                   std::string_view first = "");

}  // namespace tandem
