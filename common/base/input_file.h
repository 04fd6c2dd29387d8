// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <boost/noncopyable.hpp>
#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>

#include "common/base/error.h"
#include "common/base/units.h"

namespace tandem {

// An input file that is read whole.
struct InputFile {
  std::filesystem::path path;
  std::string_view begins;  // how errors begin, before the path: "reading sweep "; borrowed
  Bytes most;               // the largest accepted size
  ErrorKind kind = ErrorKind::kUsage;
};

// Throws an error of one line where the file does not exist, where the file is not a regular one
// (reading a pipe or a terminal would wait, and some devices never end), and where the file is
// larger than `most`.
void check_input(const InputFile& file);

// Reads an input file from its beginning, in parts.
class InputReader : boost::noncopyable {
 public:
  // Throws as check_input(), and where the file cannot be opened.
  explicit InputReader(const InputFile& file);
  ~InputReader();

  // Appends at most `bytes` bytes, and at least one before the end of the file; false at the end.
  // Throws where reading fails, and where the file turns out to have more bytes than `most`.
  [[nodiscard]] bool append_to(std::string& text, std::size_t bytes);

 private:
  InputFile file_;
  int descriptor_ = -1;
  Bytes so_far_{0};
};

// The file's text. Throws as check_input() before anything is read, and as InputReader.
[[nodiscard]] std::string read_whole(const InputFile& file);

}  // namespace tandem
