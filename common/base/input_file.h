// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
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

// Such a file, from its beginning, in parts.
class InputReader {
 public:
  // Throws as check_input, and where the file cannot be opened.
  explicit InputReader(const InputFile& file);
  ~InputReader();
  InputReader(const InputReader&) = delete;
  InputReader& operator=(const InputReader&) = delete;

  // Appends at most so many bytes, at least one before the end of the file; false at it. Throws
  // where reading fails, and where there turn out to be more bytes than `most`.
  [[nodiscard]] bool append_to(std::string& text, std::size_t bytes);

 private:
  InputFile file_;
  int descriptor_ = -1;
  Bytes so_far_{0};
};

// Its text. Throws as check_input, before anything is read, and as InputReader.
[[nodiscard]] std::string read_whole(const InputFile& file);

}  // namespace tandem
