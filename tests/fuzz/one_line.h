// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "common/base/error.h"

namespace tandem::fuzz {

// What a reader makes of any text: it reads it, or refuses it by an error of one line that is
// neither empty nor this program's own mistake. Whatever else it does ends the process.
template <class Read>
void reads_or_refuses_in_one_line(Read read) {
  try {
    read();
  } catch (const Error& error) {
    constexpr std::size_t kLongestLine = 2000;
    const std::string_view text = error.what();
    bool is_line = !text.empty() && text.size() <= kLongestLine;
    for (const char c : text) is_line = is_line && static_cast<unsigned char>(c) >= 0x20;
    if (is_line && error.kind() != ErrorKind::kLogic) return;
    std::fprintf(stderr, "no refusal in one line: '%s'\n", error.what());
    std::abort();
  }
}

}  // namespace tandem::fuzz
