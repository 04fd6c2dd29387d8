// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fmt/format.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "common/base/error.h"
#include "common/base/units.h"

namespace tandem {

// FNV-1a of 64 bits, over bytes or over wider parts.
class Fnv1a {
 public:
  constexpr void add(std::uint64_t part) { hash_ = (hash_ ^ part) * 0x100000001b3; }
  [[nodiscard]] constexpr std::uint64_t value() const { return hash_; }

 private:
  std::uint64_t hash_ = 0xcbf29ce484222325;
};

// FNV-1a over the bytes of `text`, as 16 hexadecimal digits. The hash detects accidental changes of
// a file, not an adversary's.
[[nodiscard]] inline std::string checksum_of(std::string_view text) {
  Fnv1a hash;
  for (const char byte : text) hash.add(static_cast<unsigned char>(byte));
  return fmt::format("{:016x}", hash.value());
}

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
class InputReader {
 public:
  // Throws as check_input(), and where the file cannot be opened.
  explicit InputReader(const InputFile& file);
  ~InputReader();
  InputReader(const InputReader&) = delete;
  InputReader& operator=(const InputReader&) = delete;

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

// A JSON file whose path stands in place of a model's name: "own.json", or with the checksum that
// the file must have, "own.json#0123456789abcdef". The checksum keeps measurements of one content
// from mixing with measurements of another.
struct ChecksummedFile {
  std::string path;
  std::string checksum{};  // empty: any content
};

// The file that `name` names; nothing where `name` is not a file's.
[[nodiscard]] std::optional<ChecksummedFile> checksummed_file(std::string_view name);

// The file's text. Throws usage errors that begin with `read`: as read_whole() does, where the file
// is larger than 64 MiB, and where its checksum differs.
[[nodiscard]] std::string text_of(const ChecksummedFile& file, std::string_view read);

// A file's name, below `folder` where the name is relative, with the checksum of the file's present
// content; any other name unchanged. Throws as text_of().
[[nodiscard]] std::string pinned_name(const std::string& name, std::string_view read,
                                      const std::filesystem::path& folder = {});

// The name in results: a pinned file without its folder, so that the name does not depend on where
// the file lies; any other name unchanged.
[[nodiscard]] std::string name_in_results(const std::string& pinned);

}  // namespace tandem
