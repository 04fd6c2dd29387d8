// SPDX-License-Identifier: Apache-2.0
#include "common/base/lines.h"

#include <sys/ioctl.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <sstream>

namespace tandem {

std::size_t columns_of(int descriptor) {
  constexpr std::size_t kFewest = 20;
  winsize size{};
  if (::ioctl(descriptor, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) {
    return std::clamp<std::size_t>(size.ws_col, kFewest, kMostColumns);
  }
  const char* const variable = std::getenv("COLUMNS");
  const std::string_view text = variable == nullptr ? "" : variable;
  std::size_t asked = 0;
  std::from_chars(text.data(), text.data() + text.size(), asked);
  return asked == 0 ? kMostColumns : std::max(asked, kFewest);
}

std::size_t width_of(std::string_view text) {
  // Only bytes that do not continue a UTF-8 sequence count.
  return static_cast<std::size_t>(
      std::ranges::count_if(text, [](char c) { return (c & 0xC0) != 0x80; }));
}

std::string printable(std::string text, char substitute) {
  for (char& c : text) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7F) c = substitute;
  }
  return text;
}

std::string to_lines(const std::string& text, std::size_t columns, std::string_view first) {
  const std::string indent(first.size(), ' ');
  std::string lines;
  std::string line(first);
  bool is_new = true;
  std::istringstream words(printable(text));
  for (std::string word; words >> word; is_new = false) {
    if (!is_new && width_of(line) + 1 + width_of(word) > columns) {
      lines += line + "\n";
      line = indent;
      is_new = true;
    }
    line += (is_new ? "" : " ") + word;
  }
  line.erase(line.find_last_not_of(' ') + 1);
  return lines + line + "\n";
}

}  // namespace tandem
