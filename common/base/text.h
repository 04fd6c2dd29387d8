// SPDX-License-Identifier: Apache-2.0
//
// Pieces of texts: parts of a list, counted nouns, words of a shell's command, fields of CSV,
// text within HTML and SVG.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace tandem {

// The parts of `text` between separators, empty parts too; they borrow `text`.
[[nodiscard]] std::vector<std::string_view> split(std::string_view text, char separator);

// The text without blanks and zero bytes at its ends.
[[nodiscard]] std::string_view trimmed(std::string_view text);

// The text "1 device" or "2 devices".
[[nodiscard]] std::string count_text(long long count, std::string_view noun);

// The text as one word of a shell's command, quoted where the shell needs quotes. A document may
// come from anywhere: its texts must not become commands.
[[nodiscard]] std::string shell_word(std::string_view text);

// The text as a field of CSV between quotes, its own quotes doubled (RFC 4180).
[[nodiscard]] std::string csv_quoted(std::string_view text);

// The text with the characters escaped that HTML and SVG take for markup, quotes included.
[[nodiscard]] std::string markup_escaped(std::string_view text);

}  // namespace tandem
