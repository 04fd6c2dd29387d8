// SPDX-License-Identifier: Apache-2.0
#include "common/results/json_text.h"

#include <algorithm>
#include <array>
#include <cstdint>

namespace tandem::results {
namespace {

// Bytes that stand for themselves: ASCII but quotes, backslashes and control characters.
constexpr std::array<bool, 256> kPlain = [] {
  std::array<bool, 256> plain{};
  for (std::size_t c = 0x20; c < 0x80; ++c) plain[c] = c != '"' && c != '\\';
  return plain;
}();

unsigned byte_at(std::string_view text, std::size_t place) {
  return static_cast<unsigned char>(text[place]);
}

// -1 where it is no hexadecimal digit.
int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

// The code unit of four digits; -1 where they are none.
int code_unit(std::string_view digits) {
  if (digits.size() < 4) return -1;
  int unit = 0;
  for (const char c : digits.substr(0, 4)) {
    const int digit = hex_digit(c);
    if (digit < 0) return -1;
    unit = unit * 16 + digit;
  }
  return unit;
}

bool is_high_surrogate(int unit) { return unit >= 0xd800 && unit < 0xdc00; }
bool is_low_surrogate(int unit) { return unit >= 0xdc00 && unit < 0xe000; }

// Bytes of the escape that `text` begins with; 0 where it is none.
std::size_t escape_length(std::string_view text) {
  if (text.size() < 2) return 0;
  if (text[1] != 'u') {
    return std::string_view("\"\\/bfnrt").find(text[1]) != std::string_view::npos ? 2 : 0;
  }
  const int unit = code_unit(text.substr(2));
  if (unit < 0 || is_low_surrogate(unit)) return 0;
  if (!is_high_surrogate(unit)) return 6;
  const bool is_pair = text.substr(6).starts_with("\\u") && text.size() >= 12 &&
                       is_low_surrogate(code_unit(text.substr(8)));
  return is_pair ? 12 : 0;
}

// Bytes of the character beyond ASCII that `text` begins with, by the table of well-formed
// sequences in Unicode (table 3-7); 0 where it is none.
std::size_t sequence_length(std::string_view text) {
  const unsigned first = byte_at(text, 0);
  const std::size_t length = first >= 0xc2 && first <= 0xdf   ? 2
                             : first >= 0xe0 && first <= 0xef ? 3
                             : first >= 0xf0 && first <= 0xf4 ? 4
                                                              : 0;
  if (length == 0 || text.size() < length) return 0;
  const unsigned least = first == 0xe0 ? 0xa0 : first == 0xf0 ? 0x90 : 0x80;
  const unsigned most = first == 0xed ? 0x9f : first == 0xf4 ? 0x8f : 0xbf;
  if (byte_at(text, 1) < least || byte_at(text, 1) > most) return 0;
  for (std::size_t i = 2; i < length; ++i) {
    if ((byte_at(text, i) & 0xc0U) != 0x80) return 0;
  }
  return length;
}

void append_utf8(std::string& text, std::uint32_t point) {
  const auto add = [&text](std::uint32_t byte) { text += static_cast<char>(byte); };
  const auto add_rest = [&](int shift) { add(0x80 | ((point >> shift) & 0x3f)); };
  if (point < 0x80) {
    add(point);
  } else if (point < 0x800) {
    add(0xc0 | (point >> 6));
  } else if (point < 0x10000) {
    add(0xe0 | (point >> 12));
    add_rest(6);
  } else {
    add(0xf0 | (point >> 18));
    add_rest(12);
    add_rest(6);
  }
  if (point >= 0x80) add_rest(0);
}

void append_escape(std::string& text, std::string_view escape) {
  constexpr std::string_view kLetters = "bfnrt";
  constexpr std::string_view kMeanings = "\b\f\n\r\t";
  if (escape[1] != 'u') {
    const std::size_t letter = kLetters.find(escape[1]);
    text += letter == std::string_view::npos ? escape[1] : kMeanings[letter];
    return;
  }
  auto point = static_cast<std::uint32_t>(code_unit(escape.substr(2)));
  if (escape.size() > 6) {
    const auto low = static_cast<std::uint32_t>(code_unit(escape.substr(8)));
    point = 0x10000 + ((point - 0xd800) << 10) + (low - 0xdc00);
  }
  append_utf8(text, point);
}

}  // namespace

JsonTextEnd end_of_text(std::string_view json, std::size_t begin) {
  constexpr std::size_t kLongest = 12;  // what an escape or a character may take
  JsonTextEnd found;
  std::size_t at = begin;
  for (;;) {
    while (at < json.size() && kPlain[byte_at(json, at)]) ++at;
    if (at >= json.size()) break;
    if (json[at] == '"') {
      found.is_valid = true;
      found.quote = at;
      return found;
    }
    const std::string_view rest = json.substr(at);
    const bool is_escape = json[at] == '\\';
    const std::size_t length = is_escape ? escape_length(rest) : sequence_length(rest);
    if (length == 0) {
      found.is_cut_off = rest.size() < kLongest;
      return found;
    }
    found.has_escapes |= is_escape;
    at += length;
  }
  found.is_cut_off = true;
  return found;
}

std::string without_escapes(std::string_view text) {
  std::string plain;
  while (!text.empty()) {
    const std::size_t backslash = std::min(text.find('\\'), text.size());
    plain += text.substr(0, backslash);
    text.remove_prefix(backslash);
    if (text.empty()) break;
    const std::size_t length = escape_length(text);
    append_escape(plain, text.substr(0, length));
    text.remove_prefix(length);
  }
  return plain;
}

}  // namespace tandem::results
