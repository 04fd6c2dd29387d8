// SPDX-License-Identifier: Apache-2.0
#include "common/base/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

namespace tandem {

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find(separator, at), text.size());
    parts.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return parts;
}

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kBlanks(" \t\r\0", 4);
  const std::size_t start = text.find_first_not_of(kBlanks);
  if (start == text.npos) return {};
  return text.substr(start, text.find_last_not_of(kBlanks) - start + 1);
}

std::string count_text(long long count, std::string_view noun) {
  if (count == 1) return fmt::format("1 {}", noun);
  const bool hisses = noun.ends_with("ch") || noun.ends_with("s");
  return fmt::format("{} {}{}", count, noun, hisses ? "es" : "s");
}

std::string shell_word(std::string_view text) {
  constexpr std::string_view kPlain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./:=,+-@%";
  if (!text.empty() && text.find_first_not_of(kPlain) == text.npos) return std::string(text);
  return fmt::format("'{}'", fmt::join(split(text, '\''), R"('\'')"));
}

std::string csv_quoted(std::string_view text) {
  return fmt::format("\"{}\"", fmt::join(split(text, '"'), "\"\""));
}

std::string markup_escaped(std::string_view text) {
  constexpr std::array<std::pair<char, std::string_view>, 5> kMarkup{
      {{'&', "&amp;"}, {'<', "&lt;"}, {'>', "&gt;"}, {'"', "&quot;"}, {'\'', "&#39;"}}};
  std::string escaped;
  for (const char& letter : text) {
    const auto* const found =
        std::ranges::find(kMarkup, letter, &std::pair<char, std::string_view>::first);
    escaped += found == kMarkup.end() ? std::string_view(&letter, 1) : found->second;
  }
  return escaped;
}

}  // namespace tandem
