// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "common/base/error.h"
#include "common/base/units.h"

namespace tandem {

// A file that somebody names, to be read whole.
struct InputFile {
  std::filesystem::path path;
  std::string_view begins;  // of errors, before the path: "reading sweep "; borrowed
  Bytes most;               // that files of this sort need, with room to spare
  ErrorKind kind = ErrorKind::kUsage;
};

// Throws, one line, where there is no such file, where it is none of a disk's (a pipe or a terminal
// would be waited for, and some devices never end), and where it is larger than `most`.
void check_input(const InputFile& file);

// Its text. Throws as check_input, before anything is read, and where reading fails.
[[nodiscard]] std::string read_whole(const InputFile& file);

}  // namespace tandem
