// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <string_view>

#include "common/base/input_file.h"

namespace tandem::results {

// A file of results, to be read: errors are failures that name the path. At most 4 GiB, more than
// any results are.
[[nodiscard]] InputFile results_file(const std::filesystem::path& path);

// The whole file; throws as read_whole().
[[nodiscard]] std::string read_file(const std::filesystem::path& path);

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
