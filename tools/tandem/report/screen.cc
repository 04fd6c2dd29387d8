// SPDX-License-Identifier: Apache-2.0
#include "tools/tandem/report/screen.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <string_view>

namespace tandem::cli {
namespace {

constexpr std::size_t kFewest = 20;

std::string_view variable(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? "" : value;
}

std::size_t columns_of(int stream) {
  const std::size_t most = reports::Screen{}.columns;
  winsize size{};
  if (::ioctl(stream, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) {
    return std::clamp<std::size_t>(size.ws_col, kFewest, most);
  }
  std::size_t asked = 0;
  const std::string_view text = variable("COLUMNS");
  std::from_chars(text.data(), text.data() + text.size(), asked);
  return asked == 0 ? most : std::max(asked, kFewest);
}

}  // namespace

reports::Screen screen(bool has_details) {
  return {.columns = columns_of(STDOUT_FILENO), .has_details = has_details};
}

bool rewrites_lines() { return ::isatty(STDERR_FILENO) == 1 && variable("TERM") != "dumb"; }

std::size_t columns_of_progress() { return columns_of(STDERR_FILENO); }

}  // namespace tandem::cli
