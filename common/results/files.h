// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>

namespace tandem::results {

// Throws a failure that names the path and what is wrong, where it is no file of a disk, such as a
// pipe, which would be waited for, and where it is larger than any results: than 4 GiB.
void check_file(const std::filesystem::path& path);

// The whole file. Fails as check_file() does, and with the system's reason.
[[nodiscard]] std::string read_file(const std::filesystem::path& path);

// A file, from its beginning, in parts. Throws as read_file().
class FileReader {
 public:
  explicit FileReader(const std::filesystem::path& path);
  ~FileReader();
  FileReader(const FileReader&) = delete;
  FileReader& operator=(const FileReader&) = delete;

  // Appends so many bytes, fewer at the end of the file; false where there are none.
  [[nodiscard]] bool append_to(std::string& text, std::size_t bytes);

 private:
  std::filesystem::path path_;
  int descriptor_ = -1;
};

// Writes beside the path, syncs, then renames over it: a reader, or a crash, sees the old text or
// the new one, never a part.
void replace_file(const std::filesystem::path& path, std::string_view text);

// The same for text that is never whole in memory: `write` hands what it is given each part.
using TextSink = std::function<void(std::string_view)>;
void replace_file(const std::filesystem::path& path,
                  const std::function<void(const TextSink&)>& write);

// Makes a folder and those above it, where they are missing. Throws a failure that names it and the
// system's reason.
void make_folder(const std::filesystem::path& path);

// Removes a file, or a folder and all in it, where there is one; fails as make_folder().
void remove_all(const std::filesystem::path& path);

// Writes all of the text to an open descriptor; `path` is for the error alone.
void write_all(int descriptor, std::string_view text, const std::filesystem::path& path);

}  // namespace tandem::results
